import type { Context } from '../../app/context.ts';
import { parseCount, parseMoment } from '../../app/parse.ts';
import { usageError } from '../../errors.ts';
import { nameAgent } from '../../handover/brief/reader.ts';
import type { Marks } from '../../handover/marks.ts';
import { isIdPrefix } from '../../model/id.ts';
import { quoteForShell, quoteInput } from '../../model/text.ts';
import type { CatalogRow, Filter } from '../../store/catalog.ts';
import { openMarkSearch } from '../../store/mark-lines.ts';
import type { Store } from '../../store/store.ts';
import { type FlagValues, text } from './flags.ts';

export const filterFlags = {
  id: text('Only ids that begin with this', 'id'),
  agent: text('Only from this agent', 'agent'),
  tool: { ...text('The same as --agent', 'name'), hidden: true },
  project: text('Only this project: folder, name or id', 'project'),
  query: text('Only with this text in title, summary or facts'),
  since: text('Only since then: yesterday, 7d, 2026-01-31', 'time'),
  until: text('Only until then', 'time'),
  limit: text('At most this many; 0 for all', 'count'),
} as const;

type FilterFlags = FlagValues<typeof filterFlags>;

export async function toFilter(flags: FilterFlags, context: Context): Promise<Filter> {
  const now = context.machine.clock.now();
  const agent = nameAgent(flags.agent ?? flags.tool ?? '');
  const filter: Filter = {};
  if (flags.id !== undefined) filter.idPrefix = parseIdPrefix(flags.id);
  if (agent !== '') filter.agent = agent;
  if (flags.project !== undefined) {
    const { requireProject } = await import('../../app/find-handover.ts');
    filter.project = await requireProject(context, flags.project);
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
  throw usageError(`no id starts with ${quoteInput(words)}`, hint);
}

/** Rows with those next steps that are still open. Handovers are read only where something was marked since. */
export async function* withOpenSteps(store: Store, rows: AsyncIterable<CatalogRow>): AsyncIterable<CatalogRow> {
  let marksOf: ((project: string) => Marks) | null = null;
  const isMarked = openMarkSearch(store);
  for await (const row of rows) {
    if (row.next.length === 0 || !isMarked(row.created_at.slice(0, 7))) {
      yield row;
      continue;
    }
    const { rememberMarks, listOpenSteps } = await import('../../store/marks.ts');
    marksOf ??= rememberMarks(store);
    yield { ...row, next: listOpenSteps(store, row, marksOf(row.project.id)) };
  }
}

type GivenFlags = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** The command that shows all, or more, of what a shorter list is a part of, with the same filters. */
export function suggestAll(command: string, { limit: _, ...flags }: GivenFlags, limit = 0): string {
  return writeCommand(command, { ...flags, limit: String(limit) });
}

/** The same command with the same filters, without its limit. */
export function suggestAgain(command: string, { limit: _, ...flags }: GivenFlags): string {
  return writeCommand(command, flags);
}

/** A command with these flags, to be typed. */
export function writeCommand(command: string, flags: GivenFlags): string {
  const given = Object.entries(flags).flatMap(([name, value]) => {
    if (value === undefined || value === false) return [];
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    if (value === true) return [flag];
    return [value].flat().flatMap((word) => [flag, quoteForShell(String(word))]);
  });
  return ['handover', command, ...given].join(' ');
}

/** Null for all. */
export function toLimit({ limit: given }: Pick<FilterFlags, 'limit'>, otherwise: number | null): number | null {
  if (given === undefined) return otherwise;
  const limit = parseCount(given, 0);
  return limit === 0 ? null : limit;
}
