import * as v from 'valibot';
import { HandoverError } from '../errors.ts';
import { HANDOVER_SCHEMA, Handover, HandoverDraft } from '../model/handover.ts';
import { computeChecksum } from '../model/hash.ts';
import { formatIdTime } from '../model/id.ts';
import { parseJson, RECORD_LIMITS } from '../model/json.ts';
import { rateQuality } from './quality.ts';

/** Checks a draft, orders its fields and gives it its checksum. A draft that the schema refuses is a bug of the caller. */
export function sealHandover(draft: HandoverDraft): Handover {
  const checked = v.parse(HandoverDraft, draft);
  if (!tellsItsTime(checked))
    throw new RangeError(`the id ${checked.id} does not tell the time ${checked.created_at}`);
  const sealed: Handover = { ...checked, checksum: computeChecksum(checked) };
  if (formatHandover(sealed).length > RECORD_LIMITS.maxBytes) {
    throw new HandoverError(
      'HANDOVER_TEXT_TOO_LARGE',
      `the handover is larger than ${RECORD_LIMITS.maxBytes} bytes`,
      {
        hint: 'Shorten the summary, or save it in parts.',
      },
    );
  }
  return sealed;
}

/** Seals a new handover with the quality that it has. */
export function sealRated(draft: HandoverDraft): Handover {
  return sealHandover({ ...draft, quality: rateQuality(draft) });
}

/** The one byte form of a sealed handover: readable, and equal for equal handovers. */
export function formatHandover(handover: Handover): string {
  return `${JSON.stringify(handover, null, 2)}\n`;
}

/**
 * Reads a sealed handover back. Refuses, naming the file, whatever is not exactly what was sealed: other bytes, another
 * id than the file's name says, a wrong checksum. `where` is the path for the error.
 */
export function openHandover(bytes: Uint8Array, id: string, where: string): Handover {
  const text = decodeUtf8(bytes, where);
  const value = parseRecord(text, where);
  assertKnownSchema(value, where);
  const result = v.safeParse(Handover, value);
  if (!result.success) {
    const [issue] = result.issues;
    throw damaged(where, `field ${v.getDotPath(issue) ?? 'root'} ${issue.message}`);
  }
  const handover = result.output;
  if (handover.id !== id) throw damaged(where, 'it holds another id than its name says');
  if (!tellsItsTime(handover)) throw damaged(where, 'its id does not tell its time');
  if (handover.checksum !== computeChecksum(handover))
    throw damaged(where, 'its checksum does not match its content');
  if (formatHandover(handover) !== text) throw damaged(where, 'its bytes are not the ones that were written');
  return handover;
}

/** Ids sort as times do, which whoever lists without an index relies on. */
function tellsItsTime({ id, created_at }: { id: string; created_at: string }): boolean {
  return id.startsWith(formatIdTime(Date.parse(created_at)));
}

function decodeUtf8(bytes: Uint8Array, where: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw damaged(where, 'it is not UTF-8', cause);
  }
}

function parseRecord(text: string, where: string): unknown {
  if (text.trim() === '') throw damaged(where, 'it is empty');
  try {
    return parseJson(text, where);
  } catch (cause) {
    if (!(cause instanceof HandoverError)) throw cause;
    throw damaged(where, 'it is not the JSON that was written', cause);
  }
}

/** A later version's record is whole, only not ours to read: it must not be mistaken for damage, nor damage for it. */
function assertKnownSchema(value: unknown, where: string): void {
  if (typeof value !== 'object' || value === null || !('schema' in value) || !('checksum' in value)) return;
  const { schema } = value;
  if (typeof schema !== 'string' || schema === HANDOVER_SCHEMA || !/^handover\/\d+$/.test(schema)) return;
  if (value.checksum !== computeChecksum(value)) return;
  throw new HandoverError(
    'HANDOVER_RECORD_NEWER',
    `${where} has the form ${schema}, which this version cannot read`,
    {
      hint: 'Install the newest agent-handover. The file was not touched.',
    },
  );
}

function damaged(where: string, why: string, cause?: unknown): HandoverError {
  return new HandoverError('HANDOVER_RECORD_DAMAGED', `${where} is damaged: ${why}`, {
    hint: 'Run: handover doctor (then: handover doctor --fix, to set it aside)',
    cause,
  });
}
