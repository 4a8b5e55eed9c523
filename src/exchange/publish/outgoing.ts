import { basename, join } from 'node:path';
import type { HandoverDraft } from '../../model/handover.ts';
import { compareCodeUnits } from '../../model/hash.ts';
import { isTempName, readRegularFile } from '../../platform/durable-file.ts';
import { surveyFolder } from '../../platform/folders.ts';
import { toRelativePath } from '../../platform/project.ts';
import type { Redactor } from '../../redact/redactor.ts';
import type { OutgoingFile } from './publisher.ts';

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
    const link = findLinkOnTheWay(root, path);
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

function findLinkOnTheWay(root: string, path: string): string | null {
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
