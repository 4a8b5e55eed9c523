import { findStore, redactInput } from '../../../app/context.ts';
import { countMore, describeHit } from '../../../app/describe/hit.ts';
import { dim } from '../../../app/describe/styled-text.ts';
import { parseCount, parseMoment, requireKind } from '../../../app/parse.ts';
import { findNotes, hideSecretWords, listSearchNotices } from '../../../app/search.ts';
import { usageError } from '../../../errors.ts';
import { nameAgent } from '../../../handover/brief/reader.ts';
import { countNouns, quoteForShell, quoteInput } from '../../../model/text.ts';
import type { SearchContext } from '../../../search/finder.ts';
import type { SearchHit, SearchQuery } from '../../../search/query.ts';
import { embedFacts, search } from '../../../search/search.ts';
import type { CliContext } from '../context.ts';
import { filterFlags, suggestAgain, suggestAll } from '../filters.ts';
import { command, type FlagValues, json, remoteFlag, repeated, text, toggle } from '../flags.ts';

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
  session: text('Only the text of this session: every line that matches, not only the best', 'id'),
  embed: toggle('First embed every new fact with the model of [search.meaning], not only a few per search'),
  remote: remoteFlag,
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
  if (values.remote !== undefined)
    return await searchRemote(this, values, { remote: values.remote, words: words.join(' ') });
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
  const answer = await hideSecretWords(this, query.text, await search(place, query));
  for (const notice of listSearchNotices(answer)) this.notify(notice);
  if (values.json) {
    const { by, indexFailure, omitted, asTyped, instead, hits, sessions, meaning } = answer;
    const { trouble, ...covered } = meaning ?? {};
    return this.out.json({
      query: await redactInput(this, query.text),
      by,
      ...(indexFailure === null ? {} : { index_failure: indexFailure.message }),
      omitted,
      as_typed: asTyped,
      ...(instead.length === 0 ? {} : { instead }),
      ...(sessions === undefined ? {} : { sessions }),
      ...(meaning === undefined ? {} : { meaning: { ...covered, trouble: trouble?.message ?? null } }),
      hits,
    });
  }
  const typed = `search ${quoteForShell(query.text)}`;
  if (answer.hits.length === 0) return printNothing(this, query, suggestAgain(typed, values));
  printHits(this, query, { hits: answer.hits, again: suggestAgain(typed, values) });
  if (answer.omitted > 0)
    this.err.line(dim(`${answer.omitted} more; show them: ${suggestAll(typed, values, query.limit + answer.omitted)}`));
}

async function searchRemote(
  context: CliContext,
  values: SearchFlags,
  { remote, words }: { remote: string; words: string },
): Promise<void> {
  const query = await toQuery(context, values, words);
  const { searchTeam } = await import('../../../app/team.ts');
  const hits = await searchTeam(context, remote, query);
  if (values.json) context.out.json({ query: await redactInput(context, query.text), by: 'remote', remote, hits });
  else if (hits.length === 0) context.out.line(`nothing was found for ${quoteInput(query.text)} in ${remote}`);
  else printHits(context, query, { hits, again: suggestAgain(`search ${quoteForShell(query.text)}`, values) });
}

/** `again` is the command that was typed. */
function printHits(
  { out, machine }: CliContext,
  query: SearchQuery,
  { hits, again }: { hits: readonly SearchHit[]; again: string },
): void {
  const now = machine.clock.now();
  for (const [index, hit] of hits.entries()) {
    if (index > 0) out.line();
    out.lines(describeHit(hit, query.text, now));
    out.line(dim(`  ${hit.open}`));
    if (hit.more !== undefined) out.line(dim(`  ${countMore(hit.more)}: ${again} --session ${hit.id}`));
  }
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
  if (forgotten > 0) err.line(dim(`deleted ${countNouns(forgotten, 'vector')} of texts that no longer exist`));
  return true;
}

/** Without words: reads all sessions, so that later searches find everything. */
async function readSessions(context: CliContext, place: SearchContext, values: SearchFlags): Promise<void> {
  const { readAllSessions } = await import('../../../search/sessions/search-sessions.ts');
  const { sessions, ...outcome } = await readAllSessions(place.store, place.sessionProgress);
  for (const notice of listSearchNotices({ sessions: outcome })) context.notify(notice);
  if (values.json) context.out.json({ sessions, ...outcome });
  else context.out.line(`the text of ${countNouns(sessions, 'session')} is stored`);
}

async function toQuery(context: CliContext, values: SearchFlags, words: string): Promise<SearchQuery> {
  if (words.trim() === '')
    throw usageError('there is nothing to search for', 'Pass some words: handover search "retry of uploads"');
  const limit = values.limit === undefined ? HITS : parseCount(values.limit, 1);
  const query: SearchQuery = { text: words, limit };
  if (values.kind !== undefined) query.kinds = values.kind.map(requireKind);
  if (values.agent !== undefined) query.agent = nameAgent(values.agent);
  if (values.project !== undefined) {
    const { requireProject } = await import('../../../app/find-handover.ts');
    query.project = await requireProject(context, values.project);
  }
  if (values.since !== undefined) query.sinceMs = parseMoment(values.since, context.machine.clock.now(), 'first');
  if (values.file !== undefined) query.file = values.file;
  if (values.sessions || values.session !== undefined) query.sessions = true;
  if (values.session !== undefined) query.session = values.session;
  return query;
}

function printNothing({ out, err }: CliContext, query: SearchQuery, again: string): void {
  const { kinds, agent, project, sinceMs, file, session } = query;
  const limited = [kinds, agent, project, sinceMs, file, session].some((limit) => limit !== undefined);
  const named = quoteInput(query.text);
  const wider = limited ? 'Search without the filters' : 'Try fewer or other words';
  const further = query.sessions === true ? '' : `, or search the text of sessions too: ${again} --sessions`;
  out.line(`nothing was found for ${named}`);
  err.line(dim('next: '), `${wider}${further}`);
}
