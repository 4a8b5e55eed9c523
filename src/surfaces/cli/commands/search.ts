import { findStore, redactInput } from '../../../app/context.ts';
import { describeHit } from '../../../app/describe/hit.ts';
import { dim } from '../../../app/describe/styled-text.ts';
import { notFoundError, usageError } from '../../../app/failure.ts';
import { parseCount, parseMoment, requireKind } from '../../../app/parse.ts';
import { findNotes, listSearchNotices } from '../../../app/search.ts';
import type { HandoverError } from '../../../errors.ts';
import { cleanLine, cutToBytes } from '../../../model/text.ts';
import type { SearchContext } from '../../../search/finder.ts';
import type { SearchQuery } from '../../../search/query.ts';
import { embedFacts, search } from '../../../search/search.ts';
import type { CliContext } from '../context.ts';
import { filterFlags } from '../filters.ts';
import { command, type FlagValues, json, repeated, text, toggle } from '../flags.ts';

const flags = {
  kind: {
    ...text('Only facts of this kind: decision, error, file, next, … Several with commas', 'kind'),
    variadic: ',',
  },
  agent: filterFlags.agent,
  project: text('Only this project: folder, name or id; default: all, with the current one first', 'project'),
  since: filterFlags.since,
  file: text('Only what mentions this file: a path or the end of one', 'path'),
  sessions: toggle('Also search the text of the agents’ sessions on this machine'),
  embed: toggle('First embed every new fact with the model of [search.meaning], not only a few per search'),
  limit: text('At most this many; default: 10', 'count'),
  json,
} as const;
type SearchFlags = FlagValues<typeof flags>;

export const searchCommand = command('search', runSearch, {
  positional: repeated('What to search for, in any words', 'query'),
  flags,
});

const HITS = 10;

async function runSearch(this: CliContext, values: SearchFlags, ...words: string[]): Promise<void> {
  const place: SearchContext = {
    store: findStore(this),
    notes: await findNotes(this.machine),
    progress: this.progress('indexing'),
    sessionProgress: this.progress('reading sessions'),
    embedProgress: this.progress('embedding facts'),
  };
  if (values.embed && (await embed(this, place, { words, asJson: values.json }))) return;
  if (values.sessions && words.length === 0) return await readSessions(this, place, values);
  const query = await toQuery(this, values, words.join(' '));
  const answer = await search(place, query);
  for (const notice of listSearchNotices(answer)) this.notify(notice);
  if (values.json) {
    const { by, indexFailure, omitted, hits, sessions, meaning } = answer;
    const { trouble, ...covered } = meaning ?? {};
    return this.out.json({
      query: await redactInput(this, query.text),
      by,
      ...(indexFailure === null ? {} : { index_failure: indexFailure.message }),
      omitted,
      ...(sessions === undefined ? {} : { sessions }),
      ...(meaning === undefined ? {} : { meaning: { ...covered, trouble: trouble?.message ?? null } }),
      hits,
    });
  }
  if (answer.hits.length === 0) throw nothingFoundError(query);
  const now = this.machine.clock.now();
  for (const [index, hit] of answer.hits.entries()) {
    if (index > 0) this.out.line();
    this.out.lines(describeHit(hit, query.text, now));
    this.out.line(dim(`  ${hit.open}`));
  }
  if (answer.omitted > 0)
    this.err.line(dim(`${answer.omitted} more; show them: the same with --limit ${query.limit + answer.omitted}`));
}

/** True when nothing else was asked for. */
async function embed(
  { out, err }: CliContext,
  place: SearchContext,
  { words, asJson }: { words: readonly string[]; asJson: boolean },
): Promise<boolean> {
  const { texts, embedded, forgotten } = await embedFacts(place);
  if (words.length > 0) return false;
  if (asJson) out.json({ texts, embedded, forgotten });
  else out.line(`embedded ${embedded} of ${texts} texts; the others already were`);
  if (forgotten > 0) err.line(dim(`deleted ${forgotten} vectors of texts that no longer exist`));
  return true;
}

/** Without words: reads all sessions, so that later searches find everything. */
async function readSessions(context: CliContext, place: SearchContext, values: SearchFlags): Promise<void> {
  const { readAllSessions } = await import('../../../search/sessions/search-sessions.ts');
  const { sessions, ...outcome } = await readAllSessions(place.store, place.sessionProgress);
  for (const notice of listSearchNotices({ sessions: outcome })) context.notify(notice);
  if (values.json) context.out.json({ sessions, ...outcome });
  else context.out.line(`the text of ${sessions === 1 ? '1 session' : `${sessions} sessions`} is stored`);
}

async function toQuery({ machine }: CliContext, values: SearchFlags, words: string): Promise<SearchQuery> {
  if (words.trim() === '')
    throw usageError('there is nothing to search for', 'Pass some words: handover search "retry of uploads"');
  const limit = values.limit === undefined ? HITS : parseCount(values.limit, 1);
  const query: SearchQuery = { text: words, limit };
  if (values.kind !== undefined) query.kinds = values.kind.map(requireKind);
  if (values.agent !== undefined) query.agent = values.agent;
  if (values.project !== undefined) {
    const { matchProject } = await import('../../../app/find-handover.ts');
    query.project = matchProject(values.project, machine);
  }
  if (values.since !== undefined) query.sinceMs = parseMoment(values.since, machine.clock.now(), 'first');
  if (values.file !== undefined) query.file = values.file;
  if (values.sessions) query.sessions = true;
  return query;
}

function nothingFoundError(query: SearchQuery): HandoverError {
  const { kinds, agent, project, sinceMs, file } = query;
  const limited = [kinds, agent, project, sinceMs, file].some((limit) => limit !== undefined);
  const named = `"${cutToBytes(cleanLine(query.text), 80)}"`;
  const wider = limited ? 'Search without the filters' : 'Try fewer or other words';
  const further = query.sessions === true ? '' : ', or search the text of sessions too: --sessions';
  return notFoundError(`nothing was found for ${named}`, `${wider}${further}`);
}
