import { join } from 'node:path';
import { removeFile, syncFolder } from '../platform/durable-file.ts';
import { pathExists } from '../platform/folders.ts';
import { acquireLock, type LockOptions, withLock } from '../platform/lock.ts';
import {
  ensureLockFolder,
  ensureProjectFolder,
  readProjectFile,
  removeLockFolder,
  writeProjectFile,
} from '../platform/project-file.ts';
import { PROJECT_SETTINGS } from '../platform/project-folder.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import { redactFile } from '../redact/redact-stream.ts';
import { saveDocumentCopy } from '../store/copies.ts';
import type { Store } from '../store/store.ts';
import { DOCUMENT_NAMES, type DocumentTitle, MAX_DOCUMENT_BYTES } from './layout.ts';

/** A folder with the three documents, and the id of its project. */
export type Workspace = { folder: string; project: string };

export function readDocument({ folder }: Pick<Workspace, 'folder'>, title: DocumentTitle): Buffer | null {
  return readProjectFile(join(folder, title), MAX_DOCUMENT_BYTES);
}

/** Every change of a document happens under this lock, so that what it replaces is what was backed up. */
export function withDocumentLock<T>(store: Store, workspace: Workspace, work: () => T): T {
  return withLock(placeLock(store, workspace), work);
}

function placeLock(store: Store, { folder }: Workspace): LockOptions {
  const locks = ensureLockFolder(ensureProjectFolder(folder, PROJECT_SETTINGS));
  return { folder: locks, name: 'documents', waitMs: 60_000, clock: store.machine.clock };
}

/** Copies a document, redacted, into the store. Returns where to; null when there is no document. */
export function backUpDocument(store: Store, workspace: Workspace, title: DocumentTitle): string | null {
  const { folder, project } = workspace;
  const bytes = readDocument(workspace, title);
  if (bytes === null) return null;
  const redactor = openRedactor(store.machine, { folder, makesKey: true });
  return saveDocumentCopy(store, { project, name: title }, redactFile(bytes, redactor));
}

/** The caller holds the lock. Returns where the replaced text was backed up, or null. */
export function replaceDocument(store: Store, workspace: Workspace, title: DocumentTitle, text: string): string | null {
  const backup = backUpDocument(store, workspace, title);
  writeProjectFile(join(workspace.folder, title), text);
  return backup;
}

interface DocumentResult {
  path: string;
  outcome: 'created' | 'replaced' | 'present';
  /** Where the replaced text was backed up. */
  backup: string | null;
}

interface InitOptions {
  name: string;
  /** Replace existing documents too; they are backed up. */
  force: boolean;
  at: string;
  dryRun?: boolean;
}

export function createDocuments(store: Store, workspace: Workspace, options: InitOptions): DocumentResult[] {
  const { force, dryRun = false } = options;
  const redactor = openRedactor(store.machine, { folder: workspace.folder, makesKey: !dryRun });
  const filled = { ...options, name: redactor.redactText(options.name, { byHuman: true }) };
  const create = (): DocumentResult[] =>
    DOCUMENT_NAMES.map((title) => {
      const path = join(workspace.folder, title);
      const isThere = readDocument(workspace, title) !== null;
      if (isThere && !force) return { path, outcome: 'present', backup: null };
      const outcome = isThere ? 'replaced' : 'created';
      if (dryRun) return { path, outcome, backup: null };
      return { path, outcome, backup: replaceDocument(store, workspace, title, TEMPLATES[title](filled)) };
    });
  return dryRun ? create() : withDocumentLock(store, workspace, create);
}

/** Whether it is as it was created, for this name or any. */
export function isUntouched(title: DocumentTitle, text: string, given: { name?: string } = {}): boolean {
  const name = given.name ?? /^- \*\*Name\*\*: (.*)$/m.exec(text)?.[1] ?? '';
  const at = /^- \*\*(?:Created|When)\*\*: (.*)$/m.exec(text)?.[1] ?? '';
  return text === TEMPLATES[title]({ name, at, force: false });
}

/** Removes the documents that are still as `init` creates them, and their lock. What somebody wrote into stays. */
export function removeUntouched(
  store: Store,
  workspace: Workspace,
  { dryRun = false } = {},
): { title: DocumentTitle; outcome: 'removed' | 'kept' }[] {
  const present = DOCUMENT_NAMES.filter((title) => readDocument(workspace, title) !== null);
  const settings = join(workspace.folder, PROJECT_SETTINGS);
  const judged = () =>
    present.map((title) => {
      const text = readDocument(workspace, title)?.toString('utf8') ?? '';
      return { title, outcome: isUntouched(title, text) ? 'removed' : 'kept' } as const;
    });
  if (dryRun) return judged();
  if (present.length === 0 && !pathExists(settings)) return [];
  const lock = acquireLock(placeLock(store, workspace));
  try {
    const results = judged();
    for (const { title } of results.filter(({ outcome }) => outcome === 'removed')) {
      removeFile(join(workspace.folder, title));
      syncFolder(workspace.folder);
    }
    return results;
  } finally {
    lock.discard();
    removeLockFolder(settings);
  }
}

const TEMPLATES: Record<DocumentTitle, (options: InitOptions) => string> = {
  'SOUL.md': ({ name, at }) => `# SOUL.md

<!-- Who works here. It changes rarely, and by hand. -->

## Identity
- **Name**: ${name}
- **Purpose**: (what this agent is for)
- **Style**: (how it writes and works)

## Values
- (what it does not give up)

## Context
- **Human**: (who it works with)
- **Created**: ${at}
`,
  'MEMORY.md': () => `# MEMORY.md

<!-- What is known here, beyond one session. -->

## Decisions
- (what was decided, and why)

## What Works
- (ways that proved themselves)

## What Does Not
- (ways that were tried and left)

## People and Systems
- (who and what this work depends on)
`,
  'HANDOFF.md': ({ at }) => `# HANDOFF.md

<!-- Where the last session stood. handover snapshot writes it anew. -->

## Last Session
- **When**: ${at}
- **Mode**: init

## What’s Next
- (what the next session is to do)
`,
};
