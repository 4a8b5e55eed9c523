import { join } from 'node:path';
import * as v from 'valibot';
import { startReadStats } from '../../agents/agent.ts';
import { countTokens } from '../../agents/token-usage.ts';
import { catchIf, isFailure } from '../../errors.ts';
import { findMark, isRefuted, type Marks } from '../../handover/marks.ts';
import type { Event } from '../../model/event.ts';
import type { Fact } from '../../model/fact.ts';
import type { Handover } from '../../model/handover.ts';
import { sha256Hex } from '../../model/hash.ts';
import { parseJson } from '../../model/json.ts';
import { locateInProject } from '../../model/paths.ts';
import { formatTimestamp } from '../../model/time.ts';
import { writeSmallCacheFile } from '../../platform/cache-file.ts';
import { readRegularFile } from '../../platform/durable-file.ts';
import { statFile } from '../../platform/external-file.ts';
import { ensurePrivateFolder, pathExists } from '../../platform/folders.ts';
import { expandHome } from '../../platform/paths.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import { redactEvent } from '../../redact/redact-event.ts';
import { nameSession } from '../../store/journal.ts';
import { type Store, TRANSCRIPT_CHECKPOINTS } from '../../store/store.ts';
import { BUILD } from '../../version.ts';
import { type OpenTranscript, reopenTranscript } from '../capture/trace.ts';
import { type FoundAgain, findAgain, Successor } from './find-again.ts';

const Measurement = v.object({ of: v.string(), follows: v.nullable(v.string()), successors: v.array(Successor) });
const DebtFile = v.object({ build: v.literal(BUILD), sessions: v.record(v.string(), Measurement) });

/**
 * What was measured of each session, with a digest of what it was measured of, and the handover that its first one follows,
 * which never changes. Forgetting a handover empties it.
 */
export type DebtCache = Map<string, v.InferOutput<typeof Measurement>>;

const CACHE = 'debt.json';
const MAX_CACHE_BYTES = 32 * 1024 * 1024;
const MAX_CACHED = 1000;

export function readDebtCache({ root }: Store): DebtCache {
  const data = catchIf(isFailure, null, () => {
    const bytes = readRegularFile(join(root, TRANSCRIPT_CHECKPOINTS, CACHE), MAX_CACHE_BYTES);
    return parseJson(bytes.toString('utf8'), 'the cache of debts');
  });
  return new Map(v.is(DebtFile, data) ? Object.entries(data.sessions) : []);
}

/** Does nothing where nothing can be written. */
export function writeDebtCache({ root }: Store, cache: DebtCache): void {
  const data = { build: BUILD, sessions: Object.fromEntries([...cache].slice(-MAX_CACHED)) };
  catchIf(isFailure, undefined, () => {
    ensurePrivateFolder(root, TRANSCRIPT_CHECKPOINTS);
    writeSmallCacheFile(join(root, TRANSCRIPT_CHECKPOINTS, CACHE), JSON.stringify(data));
  });
}

const MAX_BYTES = 256 * 1024 * 1024;
const MAX_QUICK_BYTES = 8 * 1024 * 1024;

interface MeasureOptions {
  store: Store;
  cache: DebtCache;
  marks: Marks;
  /** For a caller that waits: reads only small transcripts, and searches for none that moved. */
  isQuick: boolean;
  /** Whether there is time to read transcripts; what is cached costs none. */
  hasTime(): boolean;
}

export function keyOfSession({ session: { agent, id } }: Handover): string {
  return nameSession({ agent, id: id ?? '' });
}

/** The successors in a session; null where its transcript cannot be read, or not now. */
export async function measureSession(
  newest: Handover,
  preceding: Handover | null,
  { store, cache, marks, isQuick, hasTime }: MeasureOptions,
): Promise<Successor[] | null> {
  const { machine } = store;
  const open = async ({ session }: Handover): Promise<OpenTranscript | null> => {
    if (isQuick && !pathExists(expandHome(session.transcript ?? '', machine))) return null;
    const transcript = await reopenTranscript(session, machine);
    const isSmall = transcript.state === 'open' && transcript.session.bytes <= (isQuick ? MAX_QUICK_BYTES : MAX_BYTES);
    return isSmall ? transcript : null;
  };
  const own = await open(newest);
  if (own === null) return null;
  const before = preceding === null ? null : await open(preceding);
  const transcripts = before === null ? [own] : [before, own];
  const rejected = listRejected(newest, preceding, marks);
  const redactor = openRedactor(machine, { folder: own.session.cwd, makesKey: false });
  const stats = transcripts.map(({ session }) => [session.path, session.id, statFile(session.path)]);
  const of = sha256Hex(JSON.stringify([stats, rejected, redactor.settingsIdentity]));
  const key = keyOfSession(newest);
  const known = cache.get(key);
  if (known?.of === of) return known.successors;
  if (!hasTime()) return null;
  const begin = newest.session.started_at;
  /** The redactor sees every event: a secret that it finds in one may be in another. */
  const read = function* ({ agent, session }: OpenTranscript): Generator<Event> {
    for (const event of agent.readEvents(session, startReadStats())) {
      redactEvent(event, redactor);
      const isLater = session !== own.session && begin !== null && event.at !== null && event.at >= begin;
      if (!isLater) yield event;
    }
  };
  const found = findAgain({ previous: before === null ? [] : read(before), own: read(own), rejected });
  const nameItem = ({ kind, text }: FoundAgain): string =>
    kind === 'file' ? locateInProject({ text, trust: 'observed' }, newest.workspace, machine.home) : text;
  const successors = found.map((one): Successor => {
    const edit = one.first_edit;
    const tokens = edit === null ? null : countTokens(own.session, { from: one.line, to: edit.line });
    return {
      ...one,
      found: one.found.map((item) => ({ ...item, text: redactor.redactText(nameItem(item)) })),
      first_edit: edit === null ? null : { ...edit, tokens },
    };
  });
  cache.delete(key);
  cache.set(key, { of, follows: preceding?.id ?? null, successors });
  return successors;
}

/** Ideas that somebody rejected on purpose, and since when: declared as rejected, or marked as refuted. */
function listRejected(newest: Handover, preceding: Handover | null, marks: Marks): { text: string; at: string }[] {
  const ofSession = (fact: Fact, by: Handover): { text: string; at: string }[] => {
    const mark = findMark(fact, by, marks);
    if (mark?.mark === 'refuted') return [{ text: fact.text, at: mark.at }];
    const isDeclared = (fact.kind === 'rejected' && fact.trust === 'declared') || isRefuted(fact);
    const at = by === newest ? dateOf(fact.sources[0]?.ref) : by.created_at;
    return isDeclared && at !== null ? [{ text: fact.text, at }] : [];
  };
  return [preceding, newest].flatMap((by) => by?.facts.flatMap((fact) => ofSession(fact, by)) ?? []);
}

/** The time in the id of the handover that a fact was declared in. */
function dateOf(id: string | undefined): string | null {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)/.exec(id ?? '') ?? [];
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(ms) ? null : formatTimestamp(ms);
}
