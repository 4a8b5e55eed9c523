import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { HandoverError } from '../../errors.ts';

/*
 * Changes to a JSON text that leave every other byte as it is: comments, commas after the last value, indentation, line
 * ends, a byte order mark. What `append` puts in, `remove` takes out again to the byte, save for the white space
 * between the brackets of what was empty before.
 */

/** A whole text as JSON, with comments and commas after the last value allowed; null for a blank one. */
export function parseJsonText(text: string, path: string): Node | null {
  if (stripMark(text).trim() === '') return null;
  const { root, error } = parseWhole(text, path);
  if (error !== undefined) throw refuseText(text, path, { offset: error.offset, wrong: nameError(error) });
  if (root?.type !== 'object') throw refuseText(text, path, { offset: 0, wrong: 'it holds no object' });
  return root;
}

function parseWhole(text: string, path: string): { root: Node | undefined; error: ParseError | undefined } {
  const errors: ParseError[] = [];
  try {
    const root = parseTree(blankMark(text), errors, { allowTrailingComma: true });
    return { root, error: errors[0] };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw refuseText(text, path, { offset: 0, wrong: 'it is nested too deeply' });
  }
}

function nameError({ error }: ParseError): string {
  return printParseErrorCode(error)
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase();
}

const BYTE_ORDER_MARK = '\uFEFF';

function stripMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

/** Offsets stay as they are. */
function blankMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? ` ${text.slice(1)}` : text;
}

interface Complaint {
  offset: number;
  wrong: string;
}

export function refuseText(text: string, path: string, { offset, wrong }: Complaint): HandoverError {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  const column = offset - before.lastIndexOf('\n');
  return new HandoverError(
    'HANDOVER_JSON_INVALID',
    `${path} cannot be read at line ${line}, column ${column}: ${wrong}`,
    {
      hint: 'Nothing was changed. Mend that line and try again, or leave the agent out by naming others with --agent.',
      data: { path, line, column },
    },
  );
}

/** The value of the last property of that name, which is the one that counts. */
export function findProperty(object: Node, key: string): Node | null {
  const property = (object.children ?? []).findLast(
    (candidate) => candidate.type === 'property' && candidate.children?.[0]?.value === key,
  );
  return property?.children?.[1] ?? null;
}

/** Adds a value at the end of an array, or a property at the end of an object. */
export function append(text: string, container: Node, child: { key?: string; value: unknown }): string {
  const style = readStyle(text);
  const spread = isSpread(text, container);
  const indent = spread ? childIndent(text, container, style) : '';
  const name = child.key === undefined ? '' : `${JSON.stringify(child.key)}:${spread ? ' ' : ''}`;
  const added = `${spread ? `${style.eol}${indent}` : ''}${name}${print(child.value, style, spread ? indent : null)}`;
  const last = container.children?.at(-1);
  return last === undefined
    ? fillEmpty(text, container, added)
    : appendAfter(text, last, { added, container });
}

function appendAfter(text: string, last: Node, place: { added: string; container: Node }): string {
  const end = endOf(last);
  const comma = findComma(text, end, endOf(place.container) - 1);
  const at = skipTrivia(text, comma === null ? end : comma + 1, 'line');
  if (comma === null) return splice(splice(text, at, at, place.added), end, end, ',');
  return splice(text, at, at, `${place.added},`);
}

function fillEmpty(text: string, container: Node, added: string): string {
  const close = endOf(container) - 1;
  const at = afterText(text, container.offset + 1, close);
  const rest = text.slice(at, close);
  const { eol } = readStyle(text);
  const closing =
    added.startsWith(eol) && !LINE_END.test(rest) ? `${eol}${lineIndent(text, container.offset)}` : '';
  return splice(text, at, closing === '' ? at : close, `${added}${closing}`);
}

/** Takes a value out of an array, or a property out of an object, with the comma that it needs no longer. */
export function remove(text: string, container: Node, child: Node): string {
  const children = container.children ?? [];
  const at = children.indexOf(child);
  const previous = children[at - 1];
  const close = endOf(container) - 1;
  const from = afterText(text, previous === undefined ? container.offset + 1 : endOf(previous), child.offset);
  const after = findComma(text, endOf(child), close);
  let result = after === null ? text : splice(text, after, after + 1, '');
  result = splice(result, from, endOf(child), '');
  if (after === null && previous !== undefined) {
    const before = findComma(text, endOf(previous), child.offset);
    if (before !== null) result = splice(result, before, before + 1, '');
  }
  if (children.length > 1) return result;
  const shrunk = close - (text.length - result.length);
  const inner = result.slice(container.offset + 1, shrunk);
  return inner.trim() === '' ? splice(result, container.offset + 1, shrunk, '') : result;
}

export function replaceValue(text: string, node: Node, value: unknown): string {
  const spread = LINE_END.test(text.slice(node.offset, endOf(node)));
  const printed = print(value, readStyle(text), spread ? lineIndent(text, node.offset) : null);
  return splice(text, node.offset, endOf(node), printed);
}

/** A text of its own, in the manner of what it takes the place of. */
export function printDocument(value: unknown, blank: string): string {
  const mark = blank.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const { eol } = readStyle(blank);
  return `${mark}${JSON.stringify(value, null, 2).replaceAll('\n', eol)}${eol}`;
}

const LINE_END = /[\r\n]/;

interface Style {
  eol: string;
  /** One step of indentation. */
  unit: string;
}

function readStyle(text: string): Style {
  const unit = /^[\uFEFF\s]*\{[^\n]*\n([ \t]+)["/]/.exec(text)?.[1];
  return { eol: /\r\n|\n|\r/.exec(text)?.[0] ?? '\n', unit: unit ?? '  ' };
}

function print(value: unknown, { eol, unit }: Style, indent: string | null): string {
  if (indent === null) return JSON.stringify(value);
  return JSON.stringify(value, null, unit).replaceAll('\n', `${eol}${indent}`);
}

/** Whether what is added gets lines of its own: where others have them, and in what is empty. */
function isSpread(text: string, container: Node): boolean {
  const isEmpty = (container.children ?? []).length === 0;
  return (
    LINE_END.test(text.slice(container.offset, endOf(container))) || (isEmpty && isOnItsLine(text, container))
  );
}

function isOnItsLine(text: string, container: Node): boolean {
  return container.parent === undefined || LINE_END.test(text.slice(0, container.offset));
}

function childIndent(text: string, container: Node, { unit }: Style): string {
  const first = container.children?.find((child) => startsLine(text, child.offset));
  return first === undefined
    ? `${lineIndent(text, container.offset)}${unit}`
    : lineIndent(text, first.offset);
}

function startsLine(text: string, offset: number): boolean {
  return text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset).trim() === '';
}

function lineIndent(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
}

/** Past white space and comments: to the next token, or to the end of the last comment on this line. */
function skipTrivia(text: string, from: number, until: 'token' | 'line'): number {
  const trivia =
    until === 'line' ? /[ \t]*(?:\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)/y : /\s+|\/\/[^\r\n]*|\/\*[\s\S]*?\*\//y;
  let at = from;
  for (;;) {
    trivia.lastIndex = at;
    const [passed = ''] = trivia.exec(text) ?? [];
    if (passed === '') return at;
    at += passed.length;
    if (until === 'line' && LINE_END.test(passed)) return at;
  }
}

function findComma(text: string, from: number, to: number): number | null {
  const at = skipTrivia(text, from, 'token');
  return at < to && text.charAt(at) === ',' ? at : null;
}

/** The end of what is not white space before `to`, though not before `from`. */
function afterText(text: string, from: number, to: number): number {
  return from + text.slice(from, to).trimEnd().length;
}

function endOf(node: Node): number {
  return node.offset + node.length;
}

function splice(text: string, from: number, to: number, added: string): string {
  return `${text.slice(0, from)}${added}${text.slice(to)}`;
}
