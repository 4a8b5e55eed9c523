import { resolve } from 'node:path';
import { HandoverError } from '../../errors.ts';
import { PROJECT_ID } from '../../model/id.ts';
import { isFolder } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import { abbreviateHome } from '../../platform/paths.ts';
import { identifyProject } from '../../platform/project.ts';
import type { ProjectMatch } from '../../store/catalog.ts';

/** A folder names its project wherever the project's other folders are; a folder that is gone still names itself. */
export function matchProject(words: string, machine: Machine): ProjectMatch {
  if (words.trim() === '') {
    throw new HandoverError('HANDOVER_USAGE', 'the project is empty', {
      hint: 'Give a folder, a name or an id.',
    });
  }
  if (PROJECT_ID.test(words)) return { id: words };
  const folder = resolve(machine.cwd, words);
  if (isFolder(folder)) return { id: identifyProject(folder, machine).id };
  return { name: words, root: abbreviateHome(folder, machine) };
}
