import * as v from 'valibot';
import { catchError, HandoverError } from '../../errors.ts';
import { Handover } from '../../model/handover.ts';
import { computeChecksum } from '../../model/hash.ts';
import { formatIdTime } from '../../model/id.ts';
import { parseJson, RECORD_LIMITS } from '../../model/json.ts';
import { malformedError } from '../errors.ts';
import { MAX_HANDOVERS } from './archive.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** A comma and the openings of lists and objects: each comes before a value. */
const LEADS: ReadonlySet<number> = new Set([0x2c, 0x5b, 0x7b]);

/** Checked before parsing: a value of two bytes can take a hundred in memory. */
export function holdsMoreValues(bytes: Uint8Array, most: number): boolean {
  let values = 0;
  let inText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (inText) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) inText = false;
    } else if (byte === QUOTE) inText = true;
    else if (LEADS.has(byte) && ++values > most) return true;
  }
  return false;
}

/** One handover a line. */
export function formatContent(handovers: readonly Handover[]): Buffer {
  return Buffer.from(handovers.map((handover) => `${JSON.stringify(handover)}\n`).join(''));
}

/** Errors name the handover by position and the field, never the content. */
export function parseContent(bytes: Buffer, count: number): Handover[] {
  const lines = splitLines(bytes);
  if (lines.length !== count || count > MAX_HANDOVERS) throw malformedError('number of handovers');
  const large = lines.findIndex((line) => line.length > RECORD_LIMITS.maxBytes);
  if (large !== -1) throw malformedError(`handover ${large + 1}, size`);
  if (holdsMoreValues(bytes, MAX_CONTENT_VALUES)) throw malformedError('number of values');
  const handovers = lines.map((line, index) => parseLine(line, index + 1));
  if (new Set(handovers.map(({ id }) => id)).size < count) throw malformedError('ids of handovers');
  return handovers;
}

const MAX_CONTENT_VALUES = 1_000_000;
const NEWLINE = 0x0a;

function splitLines(bytes: Buffer): Buffer[] {
  if (bytes.at(-1) !== NEWLINE) throw malformedError('end of content');
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length && lines.length <= MAX_HANDOVERS; ) {
    const end = bytes.indexOf(NEWLINE, start);
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

function parseLine(line: Buffer, place: number): Handover {
  const wrong = (field: string): HandoverError => malformedError(`handover ${place}, ${field}`);
  const result = v.safeParse(Handover, parseOrRefuse(line.toString('utf8'), `handover ${place}, JSON`));
  if (!result.success) throw wrong(`field ${nameField(result.issues[0])}`);
  const handover = result.output;
  if (!handover.id.startsWith(formatIdTime(Date.parse(handover.created_at)))) throw wrong('field id');
  // There is no canonical form of a lone surrogate.
  const checksum = catchError(TypeError, null, () => computeChecksum(handover));
  if (handover.checksum !== checksum) throw wrong('field checksum');
  if (!Buffer.from(JSON.stringify(handover)).equals(line)) throw wrong('form');
  return handover;
}

export function parseOrRefuse(text: string, part: string, limits = RECORD_LIMITS): unknown {
  try {
    return parseJson(text, part, limits);
  } catch (error) {
    if (error instanceof HandoverError) throw malformedError(part);
    throw error;
  }
}

/** The field's path, as far as its names are ours: unknown keys are untrusted content. */
export function nameField(issue: v.BaseIssue<unknown>): string {
  const names = (issue.path ?? []).map(({ key }) => (typeof key === 'number' ? String(key) : key));
  const end = names.findIndex((name) => typeof name !== 'string' || !/^(?:[a-z_0-9]{1,24})$/.test(name));
  const known = end === -1 ? names : names.slice(0, end);
  return known.length === 0 ? 'root' : known.join('.');
}
