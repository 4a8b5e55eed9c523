import { type Agent, type FoundSession, startReading } from '../../agents/agent.ts';
import type { Bookmark } from '../../agents/transcript.ts';
import {
  holdsSecret,
  identifyReading,
  isSameBeginning,
  sumBeginning,
} from '../../app/capture/kept-reading.ts';
import type { Event } from '../../model/event.ts';
import { sha256Bytes, sha256Hex } from '../../model/hash.ts';
import { isShapedLike } from '../../model/shape.ts';
import { decodePlainData, encodePlainData } from '../../platform/cache-file.ts';
import { type FileStat, statFile } from '../../platform/external-file.ts';
import { startOfFile } from '../../platform/lines.ts';
import { redactEvent } from '../../redact/redact-event.ts';
import type { Redactor } from '../../redact/redactor.ts';
import { packPart, type SessionHead, unpackParts } from './archive.ts';
import { LinePlaces } from './line-places.ts';
import { type Passage, PassageMaker } from './passage.ts';

/** A session, and what is known of it from the last time. */
export interface TextSource {
  agent: Agent;
  session: FoundSession;
  head: SessionHead;
  redactor: Redactor;
  /** The archive as it stands. */
  archive: Buffer | null;
  /** What was given back with that archive. */
  kept: Uint8Array | null;
}

/** What a session tells, in parts of an archive. Never all of it at once: a session may be long. */
export interface TextRead {
  /** So many bytes and passages of the archive stay as they are. */
  stays: { bytes: number; passages: number };
  parts: Buffer[];
  /** What goes on from here when the transcript has grown; null when it has to be read from the beginning. */
  keep: Uint8Array | null;
}

/** How far the text of a session was read. */
interface KeptText {
  bookmark: Bookmark;
  unheard: Set<string>;
  places: Map<number, number>;
  settings: string;
  prefix: string;
  /** The archive up to here holds what does not change any more; behind it is what was told at the end. */
  stays: TextRead['stays'];
  archive: string;
}

const EXAMPLE: KeptText = {
  bookmark: { position: startOfFile(), state: null },
  unheard: new Set(),
  places: new Map(),
  settings: '',
  prefix: '',
  stays: { bytes: 0, passages: 0 },
  archive: '',
};

const CHECKSUM_BYTES = 32;

/**
 * Reads the text of a session, without its secrets. Of a transcript that has grown since the last time only what is new is
 * read. What was known as a secret only by its surroundings is taken out of all that was read, also of what came before.
 */
export function readSessionText(source: TextSource): TextRead {
  const { agent, session } = source;
  const sight = agent.openTranscript === undefined ? null : statFile(session.path);
  if (sight === null) return readWhole(source);
  const file = { ...source, sight };
  const kept = findKept(file);
  return (
    (kept === null ? null : readOn(file, { kept })) ??
    readOn(file, {}) ??
    readOn(file, { lookAhead: true }) ??
    readWhole(source)
  );
}

interface SightedSource extends TextSource {
  sight: FileStat;
}

function readWhole({ agent, session, head, redactor }: TextSource): TextRead {
  const collected = new PartCollector(head, redactor);
  const maker = new PassageMaker();
  for (const event of agent.readEvents(session, startReading()))
    collected.add(maker.make(redactEvent(event, redactor)));
  return { stays: { bytes: 0, passages: 0 }, parts: [...collected.finish(), packPart(head, [])], keep: null };
}

/** Null when it cannot be done from there. */
function readOn(
  source: SightedSource,
  { kept, lookAhead = false }: { kept?: KeptText; lookAhead?: boolean },
): TextRead | null {
  const { agent, session, sight, redactor, head } = source;
  const from = kept === undefined ? {} : { from: kept.bookmark };
  const reading = startReading();
  const transcript = agent.openTranscript?.({ session, reading, until: sight.size, lookAhead, ...from });
  if (transcript === null || transcript === undefined) return null;
  const stays = kept?.stays ?? { bytes: 0, passages: 0 };
  const places = new LinePlaces(session.path, {
    from: kept?.bookmark.position ?? startOfFile(),
    until: sight.size,
    recent: kept?.places ?? new Map(),
  });
  const maker = new PassageMaker(kept?.unheard);
  const tellTo =
    (collector: PartCollector) =>
    (event: Event): void => {
      const passages = maker.make(redactEvent(event, redactor));
      collector.add(passages.map((passage) => ({ ...passage, offset: places.find(passage.line) })));
    };
  try {
    const solid = new PartCollector(head, redactor);
    if (!transcript.read(tellTo(solid))) return null;
    const bookmark = structuredClone(transcript.mark());
    if (bookmark !== null) places.find(bookmark.position.number - 1);
    const state = { unheard: new Set(maker.unheard), places: new Map(places.recent) };
    const ending = new PartCollector(head, redactor);
    if (!transcript.finish(tellTo(ending))) return null;
    if (redactor.hasLearnt && kept !== undefined) return null;
    const parts = solid.finish();
    // The last part tells what the session is like now, also where nothing was said.
    const all = [...parts, ...ending.finish(), packPart(head, [])];
    const read: TextRead = { stays, parts: all, keep: null };
    if (bookmark === null || redactor.hasLearnt) return read;
    const grown = {
      bytes: stays.bytes + parts.reduce((sum, part) => sum + part.length, 0),
      passages: stays.passages + solid.passages,
    };
    return { ...read, keep: packKept(source, { ...state, bookmark, stays: grown, read }) };
  } finally {
    places.close();
  }
}

/** The archive that what was read makes. */
export function joinArchive(archive: Buffer | null, { stays, parts }: TextRead): Uint8Array[] {
  return stays.bytes === 0 ? parts : [(archive ?? Buffer.alloc(0)).subarray(0, stays.bytes), ...parts];
}

interface Packing extends Pick<KeptText, 'bookmark' | 'unheard' | 'places' | 'stays'> {
  read: TextRead;
}

/** Null when the reader still holds a secret: none is written. */
function packKept(source: SightedSource, { read, ...state }: Packing): Uint8Array | null {
  const prefix = sumBeginning(source, state.bookmark.position.offset);
  if (prefix === null || holdsSecret(state.bookmark.state, source.redactor)) return null;
  const archive = sha256Hex(Buffer.concat(joinArchive(source.archive, read)));
  const settings = source.redactor.settingsIdentity;
  const data = encodePlainData({ ...state, settings, prefix, archive });
  return Buffer.concat([sumKept(source, data), data]);
}

function findKept(source: SightedSource): KeptText | null {
  const { kept, archive, redactor } = source;
  if (kept === null || archive === null) return null;
  const data = kept.subarray(CHECKSUM_BYTES);
  if (!sumKept(source, data).equals(kept.subarray(0, CHECKSUM_BYTES))) return null;
  const text = decodePlainData(data);
  if (!isShapedLike(text, EXAMPLE) || text.settings !== redactor.settingsIdentity) return null;
  if (text.archive !== sha256Hex(archive)) return null;
  return isSameBeginning(source, text.bookmark.position.offset, text.prefix) ? text : null;
}

function sumKept(source: SightedSource, data: Uint8Array): Buffer {
  return sha256Bytes(identifyReading(source), data);
}

const PART_CHARACTERS = 512 * 1024;

/** Packs passages as they come. */
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

  /** What was learnt on the way is taken out of what was packed before. */
  finish(): Buffer[] {
    if (this.#open.length > 0) this.#close();
    if (!this.#redactor.hasLearnt) return this.#parts;
    return this.#parts.map((part) =>
      packPart(
        this.#head,
        (unpackParts(part)?.passages ?? []).map((passage) => ({
          ...passage,
          text: this.#redactor.redactText(passage.text),
        })),
      ),
    );
  }
}
