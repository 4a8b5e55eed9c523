import { basename, join } from 'node:path';
import type { HandoverDraft } from '../../model/handover.ts';
import { compareCodeUnits } from '../../model/hash.ts';
import { isTempName, readRegularFile } from '../../platform/durable-file.ts';
import { walkFolder } from '../../platform/folders.ts';
import { toRelativePath } from '../../platform/project.ts';
import type { Backend } from '../../platform/publish-settings.ts';
import { redactFile } from '../../redact/redact-stream.ts';
import type { Redactor } from '../../redact/redactor.ts';

/** A redacted file. The path is relative to the project, with forward slashes. */
export type OutgoingFile = { path: string; bytes: Uint8Array };

/** Everything of a project that is to be published. */
export interface ProjectFiles {
  /** The project's name at the destination. */
  name: string;
  /** Sorted by path. */
  files: readonly OutgoingFile[];
  /** The configured paths that exist: files missing below them were deleted. */
  roots: readonly string[];
  /** Paths that exist and are not published, such as links. */
  leftOut: readonly string[];
}

export interface Change {
  path: string;
  change: 'new' | 'changed' | 'deleted';
  bytes: number;
}

/** What would be published, as far as is known without contacting the destination. */
export interface Plan {
  changes: readonly Change[];
  /** Commits that have not been pushed, a line each. */
  waiting: readonly string[];
  notes: readonly string[];
}

export interface Publication {
  /** `nothing new` only when everything is at the destination. */
  outcome: 'published' | 'nothing new';
  changes: readonly Change[];
  commit: string | null;
  notes: readonly string[];
}

/** May be repeated after a failure or kill. Every failure is a HandoverError; on return, all is at the destination. */
export interface Publisher {
  readonly backend: Backend;
  /** For people; never contains a secret. */
  readonly destination: string;
  /** Changes nothing and contacts nobody. */
  plan(content: ProjectFiles): Promise<Plan>;
  publish(content: ProjectFiles): Promise<Publication>;
}

const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** Reads and redacts the files at and below `paths` of `root`. Follows no links, and leaves hidden files out. */
export function collectOutgoing(
  root: string,
  paths: readonly string[],
  redactor: Redactor,
): Omit<ProjectFiles, 'name'> & { redactions: HandoverDraft['redactions'] } {
  const found = new Map<string, Buffer>();
  const leftOut = new Set<string>();
  const roots: string[] = [];
  for (const path of paths) {
    const link = findLinkInPath(root, path);
    if (link !== null) {
      leftOut.add(link);
      continue;
    }
    for (const entry of walkFolder(join(root, path))) {
      const name = toRelativePath(root, entry.path);
      if (name === path) roots.push(path);
      if (isHidden(name.slice(path.length)) || isTempName(basename(entry.path))) continue;
      if (entry.kind === 'file') found.set(name, readRegularFile(entry.path, MAX_FILE_BYTES));
      else if (entry.kind !== 'folder') leftOut.add(name);
    }
  }
  const files = redactFiles(found, redactor);
  return { files, roots, leftOut: [...leftOut].sort(compareCodeUnits), redactions: redactor.redactions };
}

/** A secret found in one file is removed from all of them, so a second pass may be needed. */
function redactFiles(found: ReadonlyMap<string, Buffer>, redactor: Redactor): OutgoingFile[] {
  const sorted = [...found].sort(([a], [b]) => compareCodeUnits(a, b));
  const redact = (): OutgoingFile[] => sorted.map(([path, bytes]) => ({ path, bytes: redactFile(bytes, redactor) }));
  const once = redact();
  return redactor.hasLearnt ? redact() : once;
}

/** Whether any part of the path starts with a dot. */
export function isHidden(path: string): boolean {
  return path.split('/').some((part) => part.startsWith('.'));
}

function findLinkInPath(root: string, path: string): string | null {
  const parts = path.split('/');
  const prefixes = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
  const isLink = (prefix: string): boolean => {
    const [entry] = walkFolder(join(root, prefix));
    return entry?.kind === 'link';
  };
  return prefixes.find(isLink) ?? null;
}
