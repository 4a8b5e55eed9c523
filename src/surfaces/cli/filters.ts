import { parseCount, parseMoment } from '../../app/parse.ts';
import { HandoverError } from '../../errors.ts';
import { isIdPrefix } from '../../model/id.ts';
import { cleanLine, cutToBytes } from '../../model/text.ts';
import type { Machine } from '../../platform/machine.ts';
import type { Filter } from '../../store/catalog.ts';
import { type FlagValues, text } from './flags.ts';

export const filterFlags = {
  id: text('Only ids that begin with this', 'prefix'),
  agent: text('Only from this agent', 'name'),
  tool: { ...text('The same as --agent', 'name'), hidden: true },
  project: text('Only of this project: folder, name or id', 'project'),
  query: text('Only with this text in title, summary or facts'),
  since: text('Only from then on: 2h, 7d, 2026-01-31', 'time'),
  until: text('Only up to then', 'time'),
  limit: text('At most this many; 0 for all', 'count'),
} as const;

type FilterFlags = FlagValues<typeof filterFlags>;

export async function toFilter(flags: FilterFlags, machine: Machine): Promise<Filter> {
  const now = machine.clock.now();
  const agent = flags.agent ?? flags.tool;
  const filter: Filter = {};
  if (flags.id !== undefined) filter.idPrefix = parseIdPrefix(flags.id);
  if (agent !== undefined) filter.agent = agent;
  if (flags.project !== undefined) {
    const { matchProject } = await import('../../app/find-handover.ts');
    filter.project = matchProject(flags.project, machine);
  }
  if (flags.query !== undefined) filter.query = flags.query;
  if (flags.since !== undefined) filter.sinceMs = parseMoment(flags.since, now, 'first');
  if (flags.until !== undefined) filter.untilMs = parseMoment(flags.until, now, 'last');
  return filter;
}

function parseIdPrefix(words: string): string {
  const prefix = words.trim().toLowerCase();
  if (isIdPrefix(prefix)) return prefix;
  const hint = 'Use the first characters of an id, such as 20260131.';
  throw new HandoverError('HANDOVER_USAGE', `no id starts with "${cutToBytes(cleanLine(words), 80)}"`, { hint });
}

type GivenFlags = Readonly<Record<string, string | boolean | undefined>>;

/** The command that shows all of what a shorter list is a part of: with the same filters, and no limit. */
export function suggestAll(command: string, flags: GivenFlags): string {
  const filters = Object.entries(flags).flatMap(([name, value]) => {
    if (name === 'limit' || value === undefined || value === false) return [];
    return value === true ? [`--${name}`] : [`--${name}`, quoteForShell(value)];
  });
  return ['handover', command, ...filters, '--limit 0'].join(' ');
}

function quoteForShell(word: string): string {
  return /^[\w./:~@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Null for all. */
export function toLimit({ limit: given }: Pick<FilterFlags, 'limit'>, otherwise: number | null): number | null {
  if (given === undefined) return otherwise;
  const limit = parseCount(given, 0);
  return limit === 0 ? null : limit;
}
