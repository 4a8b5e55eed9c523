import * as v from 'valibot';
import { HandoverError } from '../errors.ts';
import { MAX_FACTS } from '../model/fact.ts';
import { HANDOVER_SCHEMA, Handover, HandoverDraft, type UnstampedDraft } from '../model/handover.ts';
import { computeChecksum } from '../model/hash.ts';
import { formatIdTime } from '../model/id.ts';
import { mapTexts, parseJson, RECORD_LIMITS } from '../model/json.ts';
import { countUtf8Bytes, revealText } from '../model/text.ts';
import { rateQuality } from './quality.ts';

/**
 * Checks a draft, orders its fields and gives it its checksum. A draft that the schema refuses is a bug of the caller. One
 * that is too large for `openHandover` to read back is refused.
 */
export function sealHandover(draft: HandoverDraft): Handover {
  if (draft.facts.length > MAX_FACTS)
    throw tooLargeError(`the handover has ${draft.facts.length} facts; at most ${MAX_FACTS} can be saved`);
  const checked = revealDraft(draft);
  if (!isIdOfTime(checked))
    throw new RangeError(`the id ${checked.id} does not begin with the time ${checked.created_at}`);
  const sealed: Handover = { ...checked, checksum: computeChecksum(checked) };
  const bytes = countUtf8Bytes(formatHandover(sealed));
  if (bytes <= RECORD_LIMITS.maxBytes) return sealed;
  throw tooLargeError(`the handover has ${bytes} bytes; at most ${RECORD_LIMITS.maxBytes} can be saved`);
}

/** Nothing that no reader sees is stored, but in the user's own paths, which are opened later. */
function revealDraft(draft: HandoverDraft): HandoverDraft {
  const { root, folder } = draft.workspace;
  const { transcript } = draft.session;
  const shown = v.parse(HandoverDraft, mapTexts(draft, revealText));
  return { ...shown, session: { ...shown.session, transcript }, workspace: { ...shown.workspace, root, folder } };
}

function tooLargeError(message: string): HandoverError {
  const hint = 'Save fewer or shorter facts, or several handovers; put long texts in files and name them with --file.';
  return new HandoverError('HANDOVER_TEXT_TOO_LARGE', message, { hint });
}

/** Rates the quality of a new handover and seals it. */
export function sealRated(draft: HandoverDraft): Handover {
  return sealHandover({ ...draft, quality: rateQuality(draft) });
}

/** The one byte form of a sealed handover: readable, and equal for equal handovers. */
export function formatHandover(handover: Handover): string {
  return `${JSON.stringify(handover, null, 2)}\n`;
}

/**
 * Reads a sealed handover back. Refuses whatever is not exactly what was sealed: other bytes, another id than the file's
 * name says, a wrong checksum. `where` is the path for the error.
 */
export function openHandover(bytes: Uint8Array, id: string, where: string): Handover {
  const text = decodeUtf8(bytes, where);
  const value = parseRecord(text, where);
  assertKnownSchema(value, where);
  const { success, issues, output: handover } = v.safeParse(Handover, value);
  if (!success) throw damagedError(where, `field ${v.getDotPath(issues[0]) ?? 'root'} ${issues[0].message}`);
  if (handover.id !== id) throw damagedError(where, 'it holds another id than its name says');
  if (!isIdOfTime(handover)) throw damagedError(where, 'its id does not begin with its time');
  if (handover.checksum !== computeChecksum(handover))
    throw damagedError(where, 'its checksum does not match its content');
  if (formatHandover(handover) !== text) throw damagedError(where, 'its bytes are not the ones that were written');
  return handover;
}

/** Ids sort as times do, which lists without an index rely on. */
function isIdOfTime({ id, created_at }: { id: string; created_at: string }): boolean {
  return id.startsWith(formatIdTime(Date.parse(created_at)));
}

function decodeUtf8(bytes: Uint8Array, where: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw damagedError(where, 'it is not UTF-8', cause);
  }
}

function parseRecord(text: string, where: string): unknown {
  if (text.trim() === '') throw damagedError(where, 'it is empty');
  try {
    return parseJson(text, where);
  } catch (cause) {
    if (!(cause instanceof HandoverError)) throw cause;
    throw damagedError(where, 'it is not the JSON that was written', cause);
  }
}

/**
 * A record of a later version must not be mistaken for damage, nor damage for it: a record of this version whose
 * number alone has one other digit is damaged. How later versions seal is not known, so their checksum is not judged.
 */
function assertKnownSchema(value: unknown, where: string): void {
  if (typeof value !== 'object' || value === null || !('schema' in value)) return;
  const { schema } = value;
  if (typeof schema !== 'string' || !/^handover\/\d+$/.test(schema) || versionOf(schema) <= versionOf(HANDOVER_SCHEMA))
    return;
  const isOfThisVersion =
    'checksum' in value && value.checksum === computeChecksum({ ...value, schema: HANDOVER_SCHEMA });
  if (isOfThisVersion && schema.length === HANDOVER_SCHEMA.length) return;
  const message = `${where} was written by a newer version of agent-handover (${schema})`;
  const hint = 'Update agent-handover to read it. The file was not changed.';
  throw new HandoverError('HANDOVER_RECORD_NEWER', message, { hint });
}

function versionOf(schema: string): number {
  return Number(schema.slice(schema.indexOf('/') + 1));
}

function damagedError(where: string, why: string, cause?: unknown): HandoverError {
  return new HandoverError('HANDOVER_RECORD_DAMAGED', `${where} is damaged: ${why}`, {
    hint: 'Run: handover doctor (then: handover doctor --fix, to quarantine it)',
    cause,
  });
}

/** Everything of a handover that another one can begin with. */
export function unsealHandover({ id: _, created_at: __, checksum: ___, ...draft }: Handover): UnstampedDraft {
  return draft;
}
