import { join } from 'node:path';
import { catchErrno, catchIf, isFailure, isHandoverError } from '../errors.ts';
import { readRegularFile, writeFileDurably } from './durable-file.ts';
import { ensurePrivateFolder, isFolder } from './folders.ts';
import { withLock } from './lock.ts';
import type { Machine } from './machine.ts';
import { findDataFolder, LOCKS } from './paths.ts';

/*
 * What was seen of each project, in one file of the store. A project's id comes from its remote or its folder, both of
 * which change; while anything else of it is recognised, all of its ids stand for one project.
 */

export interface KnownProject {
  /** The oldest first. */
  ids: string[];
  remotes: string[];
  /** Main roots and the roots of worktrees, whether they still exist or not. */
  folders: string[];
  first_commits: string[];
}

const PARTS = ['ids', 'remotes', 'folders', 'first_commits'] as const;

/** Checked by hand: commands that begin often load no schemas. */
function isKnownProject(value: unknown): value is KnownProject {
  if (typeof value !== 'object' || value === null) return false;
  const parts: Partial<Record<string, unknown>> = { ...value };
  return PARTS.every((part) => {
    const list = parts[part];
    return Array.isArray(list) && list.every((one) => typeof one === 'string');
  });
}

const SCHEMA = 'projects/1';

export const KNOWN_PROJECTS = 'projects.json';
const MAX_BYTES = 16 * 1024 * 1024;
const LOCK_WAIT_MS = 2000;

/** Null where there is no store yet. */
function findFolder(machine: Machine): string | null {
  const folder = catchIf(isHandoverError, null, () => findDataFolder(machine));
  return folder !== null && isFolder(folder) ? folder : null;
}

/** None where there is no store; a file that cannot be read counts as none. */
export function readKnownProjects(machine: Machine): KnownProject[] {
  const folder = findFolder(machine);
  return folder === null ? [] : readFrom(folder);
}

function readFrom(folder: string): KnownProject[] {
  const parse = (): unknown =>
    catchErrno(['ENOENT', 'ENOTDIR'], null, () =>
      JSON.parse(readRegularFile(join(folder, KNOWN_PROJECTS), MAX_BYTES).toString('utf8')),
    );
  const isUnreadable = (error: unknown): boolean => error instanceof SyntaxError || isFailure(error);
  const found = catchIf(isUnreadable, null, parse);
  if (typeof found !== 'object' || found === null || !('schema' in found) || !('projects' in found)) return [];
  return found.schema === SCHEMA && Array.isArray(found.projects) ? found.projects.filter(isKnownProject) : [];
}

/** All ids of a project, with the one given first. */
export function listAliases(machine: Machine, id: string): string[] {
  const known = readKnownProjects(machine).find(({ ids }) => ids.includes(id));
  return [...new Set([id, ...(known?.ids ?? [])])];
}

/** Gives every id of a project the same name. */
export function makeProjectNames(machine: Machine): (id: string) => string {
  const names = new Map<string, string>();
  return (id) => {
    const name = names.get(id) ?? listAliases(machine, id).sort().join(' ');
    names.set(id, name);
    return name;
  };
}

/**
 * Notes what was seen of a project. Whatever has one of these ids becomes one project. Nothing is written where there is
 * no store yet, or nothing is new; where it cannot be written, the project is known by its present id alone.
 */
export function noteProject(machine: Machine, seen: KnownProject): void {
  const folder = findFolder(machine);
  if (folder === null || isKnown(readFrom(folder), seen)) return;
  catchIf(isFailure, undefined, () =>
    withLock(
      { folder: ensurePrivateFolder(folder, LOCKS), name: 'projects', waitMs: LOCK_WAIT_MS, clock: machine.clock },
      () => {
        const projects = addSeen(readFrom(folder), seen);
        writeFileDurably(join(folder, KNOWN_PROJECTS), `${JSON.stringify({ schema: SCHEMA, projects }, null, 1)}\n`);
      },
    ),
  );
}

function isKnown(projects: readonly KnownProject[], seen: KnownProject): boolean {
  return projects.some((known) => PARTS.every((part) => seen[part].every((one) => known[part].includes(one))));
}

/** A folder or remote belongs to the project that it was last seen in. */
export function addSeen(projects: readonly KnownProject[], seen: KnownProject): KnownProject[] {
  const isSame = ({ ids }: KnownProject): boolean => ids.some((id) => seen.ids.includes(id));
  const [same, others] = [projects.filter(isSame), projects.filter((known) => !isSame(known))];
  const all = (part: (typeof PARTS)[number]): string[] => [
    ...new Set([...same.flatMap((known) => known[part]), ...seen[part]]),
  ];
  const joined = {
    ids: all('ids'),
    remotes: all('remotes'),
    folders: all('folders'),
    first_commits: all('first_commits'),
  };
  return [...others.map((known) => ({ ...known, folders: without(known.folders, seen.folders) })), joined];
}

function without(list: readonly string[], taken: readonly string[]): string[] {
  return list.filter((one) => !taken.includes(one));
}
