import type { Action, FileEdit, PlanItem } from '../../model/event.ts';
import { resolveFilePath } from './files.ts';
import { asRow, getText, parseAny, type Row, toRows } from './json.ts';
import { collectTexts, toMessageText } from './message-text.ts';
import { parsePatch } from './patch.ts';

/** A call of a tool, in the folder that the agent works in. */
export interface ToolCall {
  tool: string;
  input: Row;
  cwd: string | null;
}

/** The input of a tool call: the object in a text of JSON, else what was given. */
export function parseInput(input: unknown): unknown {
  return typeof input === 'string' ? (asRow(parseAny(input)) ?? input) : input;
}

/** The action of a tool that means nothing to us: its texts only. */
export function makeOtherAction(input: unknown): Action {
  return { kind: 'other', texts: collectTexts(input).map(toMessageText) };
}

/** An action made from one text of the input; null without the text. */
export function makeTextAction(text: string | null, make: (text: string) => Action): Action | null {
  return text === null ? null : make(toMessageText(text));
}

/** The edits of a `*** Begin Patch` text; null when it has none. */
export function makePatchAction(patch: string | null, cwd: string | null): Action | null {
  const edits = parsePatch((patch ?? '').toWellFormed()).map((edit) => resolveEdit(edit, cwd));
  return edits.length === 0 ? null : { kind: 'edit', edits };
}

/** The same edit, with absolute paths. */
export function resolveEdit(edit: FileEdit, cwd: string | null): FileEdit {
  const path = resolveFilePath(edit.path, cwd);
  return edit.to === undefined ? { ...edit, path } : { ...edit, path, to: resolveFilePath(edit.to, cwd) };
}

export function toStatus(status: unknown): PlanItem['status'] {
  return status === 'in_progress' || status === 'completed' || status === 'cancelled' ? status : 'pending';
}

/** The items of a plan, in a list of rows that have their text under one of these names. */
export function readPlanItems(list: unknown, ...names: readonly [string, ...string[]]): PlanItem[] {
  return toRows(list).flatMap((item) => {
    const text = getText(item, ...names);
    return text === null ? [] : [{ text: toMessageText(text.trim()), status: toStatus(item.status) }];
  });
}

const EXIT_STATUS = /Command exited with code (\d{1,5})\s*$/;

/** The exit status that several agents put in the last line of a command's output. */
export function readExitStatus(output: string): number | null {
  const [, status] = EXIT_STATUS.exec(output.slice(-200)) ?? [];
  return status === undefined ? null : Number(status);
}
