import { getNumber, getRow, getText, type Row, toRows } from '../shared/json.ts';
import { isRejection } from './prompts.ts';

export interface ToolOutcome {
  ok: boolean;
  exit: number | null;
  output: string;
  refused?: true;
}

/** The text of a result's content, which is a text or a list of blocks. */
export function readContentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return toRows(content)
    .flatMap((block) => (block.type === 'text' ? (getText(block, 'text') ?? []) : []))
    .join('\n');
}

/**
 * How a call went. `data` is what Claude Code keeps beside the text that the model was given: there a file is without
 * line numbers and a long output is not yet cut.
 */
export function readOutcome(block: Row, text: string, data: Row): ToolOutcome {
  const ok = block.is_error !== true && data.interrupted !== true;
  if (!ok && isRejection(text)) return { ok, exit: null, output: '', refused: true };
  return { ok, exit: readExit(ok, text, data), output: readFullText(data) ?? unwrapError(text) };
}

const EXIT_CODE = /^(?:Error: )?Exit code (\d{1,9})\b/;

function readExit(ok: boolean, text: string, data: Row): number | null {
  const told = getNumber(getRow(data, 'task'), 'exitCode');
  if (told !== null) return told;
  if (!ok) return toNumber(EXIT_CODE.exec(text)?.[1]);
  const finished = typeof data.stdout === 'string' && typeof data.backgroundTaskId !== 'string';
  if (!finished) return null;
  // The only statuses besides 0 that count as success are those of commands that say "no" with 1.
  return typeof data.returnCodeInterpretation === 'string' ? 1 : 0;
}

function toNumber(digits: string | undefined): number | null {
  return digits === undefined ? null : Number(digits);
}

function readFullText(data: Row): string | null {
  const file = getRow(data, 'file');
  if (data.type === 'text' && typeof file.content === 'string') return file.content;
  if (typeof data.persistedOutputPath !== 'string' || typeof data.stdout !== 'string') return null;
  return [data.stdout, getText(data, 'stderr') ?? ''].filter((part) => part !== '').join('\n');
}

const ERROR_OPEN = '<tool_use_error>';
const ERROR_CLOSE = '</tool_use_error>';

function unwrapError(text: string): string {
  if (!text.startsWith(ERROR_OPEN)) return text;
  const end = text.lastIndexOf(ERROR_CLOSE);
  return text.slice(ERROR_OPEN.length, end === -1 ? undefined : end);
}

export interface Notification extends ToolOutcome {
  call: string;
}

/** News that a call which went on in the background has ended; null for other texts, and when it names no call. */
export function readNotification(content: unknown): Notification | null {
  if (typeof content !== 'string' || !content.startsWith('<task-notification>')) return null;
  const call = readTag(content, 'tool-use-id');
  const status = readTag(content, 'status');
  if (call === null || (status !== 'completed' && status !== 'failed' && status !== 'killed')) return null;
  const summary = readTag(content, 'summary') ?? '';
  const result = readTag(content, 'result') ?? '';
  return {
    call,
    ok: status === 'completed',
    exit: toNumber(/\bexit code (\d{1,9})\b/.exec(summary)?.[1]),
    output: [summary, result].filter((part) => part !== '').join('\n'),
  };
}

function readTag(text: string, tag: string): string | null {
  const start = text.indexOf(`<${tag}>`);
  const end = start === -1 ? -1 : text.indexOf(`</${tag}>`, start);
  return end === -1 ? null : text.slice(start + tag.length + 2, end);
}
