import { resolve } from 'node:path';
import { HandoverError } from '../../errors.ts';
import { PROJECT_ID } from '../../model/workspace.ts';
import { isFolder } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import type { Filter, ProjectMatch } from '../../store/catalog.ts';
import { abbreviateHome } from '../../workspace/place.ts';
import { identifyProject } from '../../workspace/project.ts';
import { parseCount, parseMoment } from './words.ts';

/** The flags by which handovers are picked, shared by `list` and `select`. */
export interface FilterFlags {
  id?: string;
  agent?: string;
  tool?: string;
  project?: string;
  query?: string;
  since?: string;
  until?: string;
  limit?: string;
}

const text = (input: string): string => input;

export const filterFlags = {
  id: {
    kind: 'parsed',
    parse: text,
    optional: true,
    brief: 'Only ids that begin with this',
    placeholder: 'prefix',
  },
  agent: { kind: 'parsed', parse: text, optional: true, brief: 'Only from this agent', placeholder: 'name' },
  tool: {
    kind: 'parsed',
    parse: text,
    optional: true,
    hidden: true,
    brief: 'The same as --agent',
    placeholder: 'name',
  },
  project: {
    kind: 'parsed',
    parse: text,
    optional: true,
    brief: 'Only of this project: folder, name or id',
    placeholder: 'project',
  },
  query: {
    kind: 'parsed',
    parse: text,
    optional: true,
    brief: 'Only with this text in title, summary or facts',
    placeholder: 'text',
  },
  since: {
    kind: 'parsed',
    parse: text,
    optional: true,
    brief: 'Only from then on: 2h, 7d, 2026-01-31',
    placeholder: 'time',
  },
  until: { kind: 'parsed', parse: text, optional: true, brief: 'Only up to then', placeholder: 'time' },
  limit: {
    kind: 'parsed',
    parse: text,
    optional: true,
    brief: 'At most so many; 0 for all',
    placeholder: 'count',
  },
} as const;

export function toFilter(flags: FilterFlags, machine: Machine): Filter {
  const now = machine.clock.now();
  const agent = flags.agent ?? flags.tool;
  const filter: Filter = {};
  if (flags.id !== undefined) filter.idPrefix = flags.id.toLowerCase();
  if (agent !== undefined) filter.agent = agent;
  if (flags.project !== undefined) filter.project = matchProject(flags.project, machine);
  if (flags.query !== undefined) filter.query = flags.query;
  if (flags.since !== undefined) filter.sinceMs = parseMoment(flags.since, now, 'first');
  if (flags.until !== undefined) filter.untilMs = parseMoment(flags.until, now, 'last');
  return filter;
}

/** Null for all. */
export function toLimit(flags: FilterFlags, otherwise: number | null): number | null {
  if (flags.limit === undefined) return otherwise;
  const limit = parseCount(flags.limit, 0);
  return limit === 0 ? null : limit;
}

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
