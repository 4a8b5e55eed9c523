import { buildCommand, type Command } from '@stricli/core';
import { HandoverError } from '../../../errors.ts';
import type { FactKind } from '../../../model/fact.ts';
import { FACT_KINDS } from '../../../model/fact-kinds.ts';
import { cleanLine, cutToBytes } from '../../../model/text.ts';
import type { SearchDesk } from '../../../search/finder.ts';
import type { SearchQuery } from '../../../search/query.ts';
import { search } from '../../../search/search.ts';
import { type CliContext, drawProgress, findStore, progressOf } from '../context.ts';
import { findNotes } from '../find-notes.ts';
import { dim } from '../output.ts';
import { printHits } from '../print-hits.ts';
import { redactWords } from '../redact-words.ts';
import { noteShortcomings } from '../search-notes.ts';
import { parseCount, parseMoment } from '../words.ts';

export interface SearchFlags {
  kind?: readonly string[];
  agent?: string;
  project?: string;
  since?: string;
  file?: string;
  sessions: boolean;
  embed: boolean;
  limit?: string;
  json: boolean;
}

const text = (input: string): string => input;

export const searchCommand: Command<CliContext> = buildCommand<SearchFlags, string[], CliContext>({
  func: runSearch,
  parameters: {
    positional: {
      kind: 'array',
      parameter: { parse: text, brief: 'What to look for, in any words', placeholder: 'query' },
    },
    flags: {
      kind: {
        kind: 'parsed',
        parse: text,
        optional: true,
        variadic: ',',
        brief: 'Only facts of this kind: decision, error, file, next, … Several with commas',
        placeholder: 'kind',
      },
      agent: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Only from this agent',
        placeholder: 'name',
      },
      project: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief:
          'Only of this project: folder, name or id. Without it all are searched, the one you are in ahead',
        placeholder: 'project',
      },
      since: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Only from then on: 2h, 7d, 2026-01-31',
        placeholder: 'time',
      },
      file: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Only what names this file: a path or the end of one',
        placeholder: 'path',
      },
      sessions: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Also the text of the sessions that agents keep on this machine',
      },
      embed: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief:
          'Send every fact that was not yet to the model of [search.meaning] first, instead of a few with each search',
      },
      limit: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'At most so many; 10 if left out',
        placeholder: 'count',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Find facts, handovers and notes by any words' },
});

const HITS = 10;

export async function runSearch(this: CliContext, flags: SearchFlags, ...words: string[]): Promise<void> {
  const desk: SearchDesk = {
    store: findStore(this),
    notes: await findNotes(this.machine),
    progress: progressOf(this, 'indexing'),
    sessionProgress: drawProgress(this, 'reading sessions'),
    embedProgress: drawProgress(this, 'embedding facts'),
  };
  if (flags.embed && (await embed(this, desk, { words, json: flags.json }))) return;
  if (flags.sessions && words.length === 0) return await readSessions(this, desk, flags);
  const query = await toQuery(this, flags, words.join(' '));
  const answer = await search(desk, query);
  noteShortcomings(this, answer);
  if (flags.json) {
    const { by, indexFailure, omitted, hits, sessions, meaning } = answer;
    const { trouble, ...covered } = meaning ?? {};
    this.out.json({
      query: await redactWords.call(this, query.text),
      by,
      ...(indexFailure === null ? {} : { index_failure: indexFailure.message }),
      omitted,
      ...(sessions === undefined ? {} : { sessions }),
      ...(meaning === undefined ? {} : { meaning: { ...covered, trouble: trouble?.message ?? null } }),
      hits,
    });
    return;
  }
  if (answer.hits.length === 0) throw refuseNothing(query);
  printHits(this, answer.hits, query.text);
  if (answer.omitted > 0)
    this.err.line(dim(`${answer.omitted} more; see them with: --limit ${query.limit + answer.omitted}`));
}

/** True when that was all that was asked for. */
async function embed(
  { out, err }: CliContext,
  desk: SearchDesk,
  { words, json }: { words: readonly string[]; json: boolean },
): Promise<boolean> {
  const { embedFacts } = await import('../../../search/meant.ts');
  const { texts, embedded, forgotten } = await embedFacts(desk);
  if (words.length > 0) return false;
  if (json) out.json({ texts, embedded, forgotten });
  else out.line(`${embedded} of ${texts} texts were embedded, the others had been before`);
  if (forgotten > 0) err.line(dim(`${forgotten} vectors of what is not there any more were deleted`));
  return true;
}

/** Nothing is looked for, but from then on everything is found. */
async function readSessions(
  { out, err }: CliContext,
  desk: SearchDesk,
  { json }: SearchFlags,
): Promise<void> {
  const { readAllSessions } = await import('../../../search/sessions/session-finder.ts');
  const { sessions, ...outcome } = await readAllSessions(desk.store, desk.sessionProgress);
  noteShortcomings({ err }, { sessions: outcome });
  if (json) out.json({ sessions, ...outcome });
  else out.line(`the text of ${sessions === 1 ? '1 session' : `${sessions} sessions`} is kept`);
}

async function toQuery({ machine }: CliContext, flags: SearchFlags, text: string): Promise<SearchQuery> {
  if (text.trim() === '')
    throw new HandoverError('HANDOVER_USAGE', 'there is nothing to look for', {
      hint: 'Give some words: handover search "retry of uploads"',
    });
  const query: SearchQuery = { text, limit: flags.limit === undefined ? HITS : parseCount(flags.limit, 1) };
  if (flags.kind !== undefined) query.kinds = flags.kind.map(parseKind);
  if (flags.agent !== undefined) query.agent = flags.agent;
  if (flags.project !== undefined)
    query.project = (await import('../match-project.ts')).matchProject(flags.project, machine);
  if (flags.since !== undefined) query.sinceMs = parseMoment(flags.since, machine.clock.now(), 'first');
  if (flags.file !== undefined) query.file = flags.file;
  if (flags.sessions) query.sessions = true;
  return query;
}

function parseKind(words: string): FactKind {
  const kind = FACT_KINDS.find((known) => known === words.trim().toLowerCase());
  if (kind !== undefined) return kind;
  throw new HandoverError(
    'HANDOVER_USAGE',
    `there is no kind of fact "${cutToBytes(cleanLine(words), 80)}"`,
    {
      hint: `The kinds are: ${FACT_KINDS.join(', ')}.`,
    },
  );
}

function refuseNothing(query: SearchQuery): HandoverError {
  const limited = [query.kinds, query.agent, query.project, query.sinceMs, query.file].some(
    (limit) => limit !== undefined,
  );
  const named = `"${cutToBytes(cleanLine(query.text), 80)}"`;
  const wider = limited ? 'Search without the limits' : 'Try fewer or other words';
  const further = query.sessions === true ? '' : ', or the text of sessions too, with: --sessions';
  return new HandoverError('HANDOVER_NOT_FOUND', `nothing was found for ${named}`, {
    hint: `${wider}${further}`,
  });
}
