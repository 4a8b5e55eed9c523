import { join } from 'node:path';
import { isAbandonedTemp, isTempName, removeFile } from '../../../platform/durable-file.ts';
import { listNames } from '../../../platform/external-file.ts';
import { surveyFolder } from '../../../platform/folders.ts';
import { releaseRefs } from './refs.ts';
import { ensureWorkFolder, type Repo } from './repository.ts';
import { releaseUserIndex } from './user-index.ts';

const LOCKS = 'locks';

/** Where the lock of the repository's publications is. */
export function lockFolderOf(repo: Repo): string {
  return join(ensureWorkFolder(repo), LOCKS);
}

/**
 * Takes away what a publication that was killed has left: locks of git that nobody holds any more, drafts, and files
 * of memory that were half written. The caller holds the lock of the repository's publications.
 */
export function clearLeftovers(repo: Repo, roots: readonly string[]): void {
  releaseUserIndex(repo);
  releaseRefs(repo);
  for (const name of listNames(repo.workFolder)) if (name !== LOCKS) removeFile(join(repo.workFolder, name));
  for (const root of roots) {
    for (const { path, name, kind } of surveyFolder(join(repo.top, repo.prefix, root)))
      if (kind === 'file' && isTempName(name) && isAbandonedTemp(path)) removeFile(path);
  }
}
