import * as v from 'valibot';
import { type Agent, type FoundSession, startReadStats } from '../../agents/agent.ts';
import { findSessions, pickSession, titleSessions } from '../../agents/find-session.ts';
import { loadAgent } from '../../agents/table.ts';
import { hashPrefix, holdsSecret, identifyReading } from '../../agents/transcript-checkpoint.ts';
import { notFoundError } from '../../errors.ts';
import type { Event } from '../../model/event.ts';
import { sha256Bytes, sha256Hex } from '../../model/hash.ts';
import { quoteInput } from '../../model/text.ts';
import { decodePlainData, encodePlainData } from '../../platform/cache-file.ts';
import { type FileStat, statFile } from '../../platform/external-file.ts';
import { type Line, type Position, readLines, startOfFile } from '../../platform/lines.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import { redactEvent } from '../../redact/redact-event.ts';
import type { Redactor } from '../../redact/redactor.ts';
import type { Store } from '../../store/store.ts';
import {
  describeSession,
  listTexts,
  nameText,
  packPart,
  readText,
  type SessionHead,
  type SessionText,
  unpackParts,
} from './archive.ts';
import { type Passage, PassageMaker } from './passage.ts';

export interface TextSource {
  agent: Agent;
  session: FoundSession;
  head: SessionHead;
  redactor: Redactor;
  archive: Buffer | null;
  /** The checkpoint that was returned with that archive. */
  checkpoint: Uint8Array | null;
}

/** The text of a session as parts of an archive. Never all in one, because a session may be long. */
export interface NewText {
  /** With a title that holds none of the secrets found. */
  head: SessionHead;
  /** How many bytes and passages at the beginning of the archive stay as they are. */
  stays: { bytes: number; passages: number };
  parts: Buffer[];
  /** The checkpoint for the next reading; null when that must begin at the start. */
  checkpoint: Uint8Array | null;
}

const Count = v.number();

/** How far a transcript was read. Its bytes are trusted for their checksum, but may be of another version. */
const Checkpoint = v.object({
  bookmark: v.object({ position: v.object({ offset: Count, number: Count }), state: v.unknown() }),
  /** The state of `PassageMaker` and of `LineOffsets`. */
  unheard: v.set(v.string()),
  places: v.map(Count, Count),
  /** The redactor's settings, the beginning of the transcript, and the archive, as digests. */
  settings: v.string(),
  prefix: v.string(),
  archive: v.string(),
  /** The beginning of the archive that never changes; after it is what was read at the end of the transcript. */
  stays: v.object({ bytes: Count, passages: Count }),
});
type Checkpoint = v.InferOutput<typeof Checkpoint>;

const CHECKSUM_BYTES = 32;

/**
 * Reads the text of a session, without its secrets. Of a transcript that has grown, only the new part is read. A value
 * that turns out to be a secret by its context is removed from everything that was read, also before it.
 */
export function readSessionText(source: TextSource): NewText {
  const { agent, session } = source;
  const stat = agent.openTranscript === undefined ? null : statFile(session.path);
  if (stat === null) return readWhole(source);
  const file = { ...source, stat };
  const checkpoint = findCheckpoint(file);
  const grown = checkpoint === null ? null : readOn(file, { checkpoint });
  return grown ?? readOn(file, {}) ?? readOn(file, { lookAhead: true }) ?? readWhole(source);
}

type TranscriptSource = TextSource & { stat: FileStat };

function readWhole({ agent, session, head, redactor }: TextSource): NewText {
  const collector = new PartCollector(head, redactor);
  const maker = new PassageMaker();
  for (const event of agent.readEvents(session, startReadStats()))
    collector.add(maker.make(redactEvent(event, redactor)));
  const [parts, shown] = [collector.finish(), redactTitle(head, redactor)];
  return { head: shown, stays: { bytes: 0, passages: 0 }, parts: [...parts, packPart(shown, [])], checkpoint: null };
}

/** Null when the transcript cannot be read in this way. */
function readOn(
  source: TranscriptSource,
  { checkpoint, lookAhead = false }: { checkpoint?: Checkpoint; lookAhead?: boolean },
): NewText | null {
  const { agent, session, stat, redactor, head } = source;
  const transcript = agent.openTranscript?.({
    session,
    stats: startReadStats(),
    until: stat.size,
    lookAhead,
    ...(checkpoint === undefined ? {} : { from: checkpoint.bookmark }),
  });
  if (transcript === null || transcript === undefined) return null;
  const stays = checkpoint?.stays ?? { bytes: 0, passages: 0 };
  const offsets = new LineOffsets(session.path, {
    from: checkpoint?.bookmark.position ?? startOfFile(),
    until: stat.size,
    recent: checkpoint?.places ?? new Map(),
  });
  const maker = new PassageMaker(checkpoint?.unheard);
  const collectIn =
    (collector: PartCollector) =>
    (event: Event): void => {
      const passages = maker.make(redactEvent(event, redactor));
      collector.add(passages.map((passage) => ({ ...passage, offset: offsets.find(passage.line) })));
    };
  try {
    const solid = new PartCollector(head, redactor);
    if (!transcript.read(collectIn(solid))) return null;
    const bookmark = structuredClone(transcript.mark());
    if (bookmark !== null) offsets.find(bookmark.position.number - 1);
    const state = { unheard: new Set(maker.unheard), places: new Map(offsets.recent) };
    const ending = new PartCollector(head, redactor);
    if (!transcript.finish(collectIn(ending))) return null;
    if (redactor.hasLearnt && checkpoint !== undefined) return null;
    const [parts, shown] = [solid.finish(), redactTitle(head, redactor)];
    // The last part has the head as it is now, also when there are no new passages.
    const allParts = [...parts, ...ending.finish(), packPart(shown, [])];
    const text: NewText = { head: shown, stays, parts: allParts, checkpoint: null };
    if (bookmark === null || redactor.hasLearnt) return text;
    const grown = {
      bytes: stays.bytes + parts.reduce((sum, part) => sum + part.length, 0),
      passages: stays.passages + solid.passages,
    };
    return { ...text, checkpoint: packCheckpoint(source, text, { ...state, bookmark, stays: grown }) };
  } finally {
    offsets.close();
  }
}

export function joinArchive(archive: Buffer | null, { stays, parts }: NewText): Uint8Array[] {
  return stays.bytes === 0 ? parts : [(archive ?? Buffer.alloc(0)).subarray(0, stays.bytes), ...parts];
}

/** Null when the reader still holds a secret: none is written. */
function packCheckpoint(
  source: TranscriptSource,
  text: NewText,
  state: Pick<Checkpoint, 'bookmark' | 'unheard' | 'places' | 'stays'>,
): Uint8Array | null {
  const prefix = hashPrefix(source, state.bookmark.position.offset);
  if (prefix === null || holdsSecret(state.bookmark.state, source.redactor)) return null;
  const archive = sha256Hex(Buffer.concat(joinArchive(source.archive, text)));
  const settings = source.redactor.settingsIdentity;
  const data = encodePlainData({ ...state, settings, prefix, archive });
  return Buffer.concat([sha256Bytes(identifyReading(source), data), data]);
}

function findCheckpoint(source: TranscriptSource): Checkpoint | null {
  const { checkpoint, archive, redactor } = source;
  if (checkpoint === null || archive === null) return null;
  const data = checkpoint.subarray(CHECKSUM_BYTES);
  if (!sha256Bytes(identifyReading(source), data).equals(checkpoint.subarray(0, CHECKSUM_BYTES))) return null;
  const { success, output } = v.safeParse(Checkpoint, decodePlainData(data));
  if (!success || output.settings !== redactor.settingsIdentity || output.archive !== sha256Hex(archive)) return null;
  return hashPrefix(source, output.bookmark.position.offset) === output.prefix ? output : null;
}

/** Passages of an event may come after later lines, but not much. */
const MAX_REMEMBERED = 600;

/** Finds where lines of a file begin, in one pass beside its reader: lines are asked for roughly in order. */
class LineOffsets {
  /** The offsets of the last lines. Plain data, for checkpoints. */
  readonly recent: Map<number, number>;
  readonly #lines: Iterator<Line>;
  #last: number;

  constructor(path: string, extent: { from: Position; until: number; recent: ReadonlyMap<number, number> }) {
    this.recent = new Map(extent.recent);
    this.#last = extent.from.number - 1;
    this.#lines = readLines(path, { position: { ...extent.from }, until: extent.until });
  }

  /** Null for a line that does not exist or is too far back. */
  find(line: number): number | null {
    while (this.#last < line) {
      const { done, value } = this.#lines.next();
      if (done === true) break;
      this.#last = value.number;
      this.recent.set(value.number, value.offset);
      const [oldest = 0] = this.recent.keys();
      if (this.recent.size > MAX_REMEMBERED) this.recent.delete(oldest);
    }
    return this.recent.get(line) ?? null;
  }

  close(): void {
    this.#lines.return?.();
  }
}

const PART_CHARACTERS = 512 * 1024;

class PartCollector {
  readonly #head: SessionHead;
  readonly #redactor: Redactor;
  readonly #parts: Buffer[] = [];
  #open: Passage[] = [];
  #characters = 0;
  passages = 0;

  constructor(head: SessionHead, redactor: Redactor) {
    this.#head = head;
    this.#redactor = redactor;
  }

  add(passages: readonly Passage[]): void {
    for (const passage of passages) {
      this.#open.push(passage);
      this.#characters += passage.text.length;
    }
    this.passages += passages.length;
    if (this.#characters >= PART_CHARACTERS) this.#close();
  }

  #close(): void {
    this.#parts.push(packPart(this.#head, this.#open));
    this.#open = [];
    this.#characters = 0;
  }

  /** Secrets that became known on the way are removed from the parts before. */
  finish(): Buffer[] {
    if (this.#open.length > 0) this.#close();
    if (!this.#redactor.hasLearnt) return this.#parts;
    const redact = (each: Passage): Passage => ({ ...each, text: this.#redactor.redactText(each.text) });
    const head = redactTitle(this.#head, this.#redactor);
    return this.#parts.map((part) => packPart(head, unpackParts(part)?.passages.map(redact) ?? []));
  }
}

/** A title is often made of the first prompt, and may hold what only a later text shows to be a secret. */
function redactTitle(head: SessionHead, redactor: Redactor): SessionHead {
  return head.title === null ? head : { ...head, title: redactor.redactText(head.title, { byHuman: true }) };
}

/** `gone`: the agent has deleted the session, and this is its archive. */
export type SessionView = SessionText & { gone: boolean };

/** The text of a session, without secrets, by its id, or the beginning or end of it. Nothing is written. */
export async function openSession(store: Store, words: string): Promise<SessionView> {
  const wanted = words.trim();
  const live = pickSession(await findSessions(store.machine), wanted);
  const [titled] = live === null ? [] : await titleSessions([live], store.machine);
  if (titled !== undefined) return { ...(await readLive(store, titled)), gone: false };
  const heads = listTexts(store).flatMap((name) => readText(store, name)?.head ?? []);
  const archived = pickSession(heads, wanted);
  const text = archived === null ? null : readText(store, nameText(archived));
  if (text !== null) return { ...text, gone: true };
  throw notFoundError(`there is no session ${quoteInput(wanted)}`, 'List sessions: handover sessions');
}

async function readLive({ machine }: Store, session: FoundSession): Promise<SessionText> {
  const { head, parts } = readSessionText({
    agent: await loadAgent(session.agent),
    session,
    head: describeSession(session, null),
    redactor: openRedactor(machine, { folder: session.cwd, makesKey: false }),
    archive: null,
    checkpoint: null,
  });
  return { head, passages: parts.flatMap((part) => unpackParts(part)?.passages ?? []) };
}
