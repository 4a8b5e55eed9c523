import { asRow, getRow, getRows, getText, type Row } from '../json.ts';
import { peekText, toKey } from '../peek.ts';

const TYPE = toKey('type');
const SUBTYPE = toKey('subtype');
const API_ERROR = Buffer.from('api_error');

/** System rows that tell what happened; all others are for Qwen Code itself. */
const TELLING = new Set(['chat_compression', 'slash_command', 'turn_result', 'ui_telemetry', 'rewind']);

/** Rows name their type and subtype before all else that could hold such names. */
export function isNeedlessRow(bytes: Buffer): boolean {
  if (peekText(bytes, TYPE) !== 'system') return false;
  const subtype = peekText(bytes, SUBTYPE);
  if (subtype === 'ui_telemetry') return !bytes.includes(API_ERROR);
  return subtype !== '' && !TELLING.has(subtype);
}

/** Claude Code's rows look much the same, but have their text in `content` and say whether they are a sidechain. */
export function isQwenRow(row: Row): boolean {
  if (typeof row.uuid !== 'string' || typeof row.sessionId !== 'string') return false;
  if ('userType' in row) return false;
  return row.type === 'system'
    ? asRow(row.systemPayload) !== null
    : Array.isArray(getRow(row, 'message').parts);
}

/** The texts of a message, without what the model thought. */
export function readTexts(row: Row): string[] {
  return getRows(getRow(row, 'message'), 'parts').flatMap((part) => {
    return part.thought === true ? [] : (getText(part, 'text') ?? []);
  });
}

const HOOK_CONTEXT = /^\s*<qwen:[a-z-]{1,60}>/;
const MID_TURN = /^\s*\[User message received during tool execution\]: /;
const BARE_COMMAND = /^\/[\w:.-]+$/;

/**
 * What the human said in a row of type `user`; null when it is a notification, a timer or a goal that speaks. Behind
 * the human's text come the files that it names and what hooks added.
 */
export function readHumanRow(row: Row): string | null {
  const { provenance, subtype } = row;
  if (provenance !== undefined && provenance !== 'real_user') return null;
  if (subtype !== undefined && subtype !== 'mid_turn_user_message') return null;
  const shown = getText(getRow(row, 'systemPayload'), 'displayText');
  const [first = ''] = readTexts(row).filter((text) => !HOOK_CONTEXT.test(text));
  const text = (shown || first.replace(MID_TURN, '')).trim();
  return text === '' || BARE_COMMAND.test(text) ? null : text;
}
