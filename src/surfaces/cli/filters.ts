import { HandoverError } from '../../errors.ts';
import { isIdPrefix } from '../../model/id.ts';
import { cleanLine, cutToBytes } from '../../model/text.ts';
import type { Machine } from '../../platform/machine.ts';
import type { Filter, ProjectMatch } from '../../store/catalog.ts';
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

export async function toFilter(flags: FilterFlags, machine: Machine): Promise<Filter> {
  const now = machine.clock.now();
  const agent = flags.agent ?? flags.tool;
  const filter: Filter = {};
  if (flags.id !== undefined) filter.idPrefix = parseIdPrefix(flags.id);
  if (agent !== undefined) filter.agent = agent;
  if (flags.project !== undefined) filter.project = await matchProject(flags.project, machine);
  if (flags.query !== undefined) filter.query = flags.query;
  if (flags.since !== undefined) filter.sinceMs = parseMoment(flags.since, now, 'first');
  if (flags.until !== undefined) filter.untilMs = parseMoment(flags.until, now, 'last');
  return filter;
}

function parseIdPrefix(words: string): string {
  const prefix = words.trim().toLowerCase();
  if (isIdPrefix(prefix)) return prefix;
  throw new HandoverError('HANDOVER_USAGE', `no id begins with "${cutToBytes(cleanLine(words), 80)}"`, {
    hint: 'Give the first characters of an id, as 20260131.',
  });
}

/** Null for all. */
export function toLimit(flags: FilterFlags, otherwise: number | null): number | null {
  if (flags.limit === undefined) return otherwise;
  const limit = parseCount(flags.limit, 0);
  return limit === 0 ? null : limit;
}

async function matchProject(words: string, machine: Machine): Promise<ProjectMatch> {
  return (await import('./match-project.ts')).matchProject(words, machine);
}
