import { basename, join } from 'node:path';
import type { HandoverDraft } from '../../model/handover.ts';
import { compareCodeUnits } from '../../model/hash.ts';
import { isTempName, readRegularFile } from '../../platform/durable-file.ts';
import { surveyFolder } from '../../platform/folders.ts';
import { toRelativePath } from '../../platform/place.ts';
import type { Backend } from '../../platform/publish-settings.ts';
import type { Redactor } from '../../redact/redactor.ts';

/** A file as it leaves: by its path in the project, with forward slashes, and without the secrets that showed in it. */
export interface OutgoingFile {
  path: string;
  bytes: Uint8Array;
}

/** All of a project that is to be published. */
export interface ProjectFiles {
  /** What the project is called where it is published. */
  name: string;
  /** Sorted by path. */
  files: readonly OutgoingFile[];
  /** The configured paths that stand on disk: what is missing below them was deleted. */
  roots: readonly string[];
  /** Paths that stand on disk and do not leave, such as links. */
  leftOut: readonly string[];
}

export interface Change {
  path: string;
  change: 'new' | 'changed' | 'deleted';
  /** How many bytes leave. */
  bytes: number;
}

/** What would leave the machine, as far as is known without asking the other side. */
export interface Plan {
  changes: readonly Change[];
  /** What was committed and has not left yet, a line each. */
  waiting: readonly string[];
  notes: readonly string[];
}

export interface Publication {
  /** `nothing new` is said only when all of it has arrived. */
  outcome: 'published' | 'nothing new';
  changes: readonly Change[];
  commit: string | null;
  notes: readonly string[];
}

/**
 * A way to publish. Both are safe to repeat: after a failure or a kill at any moment, `publish` brings about what an
 * uninterrupted one would have, and does nothing twice that shows. Every failure is a HandoverError; a publication that
 * is returned has arrived.
 */
export interface Publisher {
  readonly backend: Backend;
  /** Where to, for people: never with a secret in it. */
  readonly destination: string;
  /** Changes nothing and contacts nobody. */
  plan(parcel: ProjectFiles): Promise<Plan>;
  publish(parcel: ProjectFiles): Promise<Publication>;
}

/** What a project's configured paths hold, ready to leave. */
export interface Outgoing {
  files: OutgoingFile[];
  roots: string[];
  leftOut: string[];
  redactions: HandoverDraft['redactions'];
}

const MAX_FILE_BYTES = 16 * 1024 * 1024;

/**
 * Reads the regular files at and below `paths`, which are relative to `root`. No link is followed, whatever part of a
 * path it stands for, and what begins with a dot stays at home.
 */
export function collectOutgoing(root: string, paths: readonly string[], redactor: Redactor): Outgoing {
  const found = new Map<string, Buffer>();
  const leftOut = new Set<string>();
  const roots: string[] = [];
  for (const path of paths) {
    const link = findLinkInPath(root, path);
    if (link !== null) {
      leftOut.add(link);
      continue;
    }
    for (const entry of surveyFolder(join(root, path))) {
      const name = toRelativePath(root, entry.path);
      if (name === path) roots.push(path);
      if (isHidden(name.slice(path.length)) || isTempName(basename(entry.path))) continue;
      if (entry.kind === 'file') found.set(name, readRegularFile(entry.path, MAX_FILE_BYTES));
      else if (entry.kind !== 'folder') leftOut.add(name);
    }
  }
  return {
    files: redactFiles(found, redactor),
    roots,
    leftOut: [...leftOut].sort(compareCodeUnits),
    redactions: redactor.redactions,
  };
}

/** What is learnt to be a secret in one file is one in all of them, whichever comes first. */
function redactFiles(found: ReadonlyMap<string, Buffer>, redactor: Redactor): OutgoingFile[] {
  const sorted = [...found].sort(([a], [b]) => compareCodeUnits(a, b));
  const redact = (): OutgoingFile[] =>
    sorted.map(([path, bytes]) => ({ path, bytes: redactBytes(bytes, redactor) }));
  const once = redact();
  return redactor.hasLearnt ? redact() : once;
}

/** Whether any part of a path below a configured one begins with a dot. */
export function isHidden(path: string): boolean {
  return path.split('/').some((part) => part.startsWith('.'));
}

function findLinkInPath(root: string, path: string): string | null {
  const parts = path.split('/');
  for (let count = 1; count <= parts.length; count++) {
    const way = parts.slice(0, count).join('/');
    const [entry] = surveyFolder(join(root, way));
    if (entry?.kind === 'link') return way;
  }
  return null;
}

/** Secrets are made of ASCII, so what is no UTF-8 can be looked through byte by byte. */
function redactBytes(bytes: Buffer, redactor: Redactor): Uint8Array {
  const text = bytes.toString('utf8');
  const encoding = Buffer.from(text, 'utf8').equals(bytes) ? 'utf8' : 'latin1';
  return Buffer.from(redactor.redactText(bytes.toString(encoding)), encoding);
}
