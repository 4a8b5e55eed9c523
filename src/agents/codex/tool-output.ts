import { asRow, getNumber, getRow, getText, parseRow } from '../shared/json.ts';
import { listTexts } from './human-text.ts';

export interface ToolOutput {
  ok: boolean | null;
  exit: number | null;
  text: string;
  /** The process or script that goes on, to be asked for again under this name. */
  running: string | null;
}

/** Reads what a tool gave back: its text, and what the program wrote above the text about how it went. */
export function readToolOutput(output: unknown): ToolOutput {
  const wrapped = asRow(output);
  if (wrapped !== null) {
    const inner = readToolOutput(wrapped.content ?? wrapped.content_items ?? wrapped.output ?? '');
    return typeof wrapped.success === 'boolean' ? { ...inner, ok: wrapped.success } : inner;
  }
  const [first = '', ...others] = listTexts(output);
  const old = readOldOutput(first);
  if (old !== null) return old;
  const told = readPreambles(first);
  const parts = [told.text, ...others].map((text) =>
    told.script ? readScriptResult(text) : { text, exit: null },
  );
  const exits = parts.flatMap((part) => part.exit ?? []);
  const exit = told.exit ?? exits.find((code) => code !== 0) ?? exits[0] ?? null;
  const text = parts
    .map((part) => part.text)
    .filter((part) => part !== '')
    .join('\n');
  return {
    ok: exit === null ? (told.ok ?? (isRefusal(first) ? false : null)) : exit === 0,
    exit,
    text,
    running: told.running,
  };
}

/** `{"output":"…","metadata":{"exit_code":0}}`, as it was before the lines above the text. */
function readOldOutput(text: string): ToolOutput | null {
  if (!text.startsWith('{"output"')) return null;
  const row = parseRow(text);
  const output = row === null ? null : getText(row, 'output');
  const exit = row === null ? null : getNumber(getRow(row, 'metadata'), 'exit_code');
  if (output === null || exit === null) return null;
  return { ok: exit === 0, exit, text: output, running: null };
}

/** A script that prints the result of a command prints its JSON. */
function readScriptResult(text: string): { text: string; exit: number | null } {
  if (!text.startsWith('{') || !text.includes('"exit_code"')) return { text, exit: null };
  const row = parseRow(text);
  const exit = row === null ? null : getNumber(row, 'exit_code');
  return { text: (row === null ? null : getText(row, 'output')) ?? text, exit };
}

const NOTE =
  /^(?:Chunk ID: \S*|Wall time:? [\d.]+ seconds?|Original token count: \d+|Total output lines: \d+|Process exited with code (-?\d{1,10})|Exit code: (-?\d{1,10})|Process running with session ID (\S{1,40})|Script running with cell ID (\S{1,40})|Script (completed|failed|terminated)\b.{0,80})$/;
const MAX_NOTES = 8;
/** A patch given to a shell is answered inside the shell's answer, which then has no exit status of its own. */
const MAX_PREAMBLES = 2;

interface Preamble extends ToolOutput {
  /** Whether a script gave the answer. */
  script: boolean;
}

function readPreambles(given: string): Preamble {
  const told: Preamble = { ok: null, exit: null, text: given, running: null, script: false };
  for (let i = 0; i < MAX_PREAMBLES && told.exit === null && told.running === null; i++) {
    const length = readPreamble(told.text, told);
    if (length === 0) break;
    told.text = told.text.slice(length);
  }
  return told;
}

/** The length of the lines down to `Output:`; 0 when the text does not begin with such lines. */
function readPreamble(text: string, told: Preamble): number {
  let at = 0;
  const found: Partial<Preamble> = {};
  for (let i = 0; i <= MAX_NOTES; i++) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end === -1 ? Math.min(text.length, at + 200) : end);
    if (line === 'Output:' && i > 0) {
      Object.assign(told, found);
      return end === -1 ? text.length : end + 1;
    }
    const note = NOTE.exec(line);
    if (note === null || end === -1) return 0;
    const [, exited, exitCode, session, cell, script] = note;
    const exit = exited ?? exitCode;
    if (exit !== undefined) found.exit = Number(exit);
    if (session !== undefined || cell !== undefined) found.running = session ?? `cell ${cell}`;
    if (script !== undefined) found.ok = script === 'completed';
    if (script !== undefined || cell !== undefined) found.script = true;
    at = end + 1;
  }
  return 0;
}

const REFUSAL =
  /^(?:unsupported call|exec_command failed|exec_command rejected|apply_patch verification failed|apply_patch was requested|write_stdin failed|failed to |execution error|aborted|command timed out|patch rejected|rejected by|tool call error|err: )/i;

function isRefusal(text: string): boolean {
  return REFUSAL.test(text);
}
