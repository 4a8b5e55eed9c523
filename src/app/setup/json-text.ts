import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { HandoverError } from '../../errors.ts';

const BYTE_ORDER_MARK = '\uFEFF';

/*
 * Edits to a JSON text that leave every other byte as it is: comments, trailing commas, indentation, line ends, a byte
 * order mark. `remove` undoes `append` to the byte, save for the white space between brackets that were empty before.
 *
 * `modify` of jsonc-parser cannot do this: it reformats the values next to the edit, adds in front of a comment that
 * belongs to the last value, deletes the comments around what it removes, and edits the first of two equal keys.
 */

/** The text of a settings file. Lossless: encoding it again gives the same bytes. */
export function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new HandoverError('HANDOVER_JSON_INVALID', `${path} is not UTF-8 text`, {
      hint: 'Nothing was changed. Save it as UTF-8 and try again, or leave the agent out by naming others with --agent.',
      cause,
      data: { path },
    });
  }
}

/** The object in a JSON text, with comments and trailing commas allowed; null for a blank text. */
export function parseJsonText(text: string, path: string): Node | null {
  const bare = text.startsWith(BYTE_ORDER_MARK) ? ` ${text.slice(1)}` : text;
  if (bare.trim() === '') return null;
  const errors: ParseError[] = [];
  const root = parseDeep(bare, path, errors);
  const [error] = errors;
  if (error !== undefined) {
    const wrong = printParseErrorCode(error.error).replace(/(?<=[a-z])(?=[A-Z])/g, ' ');
    throw jsonTextError(text, path, { offset: error.offset, wrong: wrong.toLowerCase() });
  }
  if (root?.type !== 'object') throw jsonTextError(text, path, { offset: 0, wrong: 'it contains no object' });
  return root;
}

function parseDeep(text: string, path: string, errors: ParseError[]): Node | undefined {
  try {
    return parseTree(text, errors, { allowTrailingComma: true });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw jsonTextError(text, path, { offset: 0, wrong: 'it is nested too deeply' });
  }
}

/** Like `parseJsonText`, for a text that is known not to be blank. */
export function requireRoot(text: string, path: string): Node {
  const root = parseJsonText(text, path);
  if (root !== null) return root;
  throw jsonTextError(text, path, { offset: 0, wrong: 'it contains no object' });
}

export function jsonTextError(
  text: string,
  path: string,
  { offset, wrong }: { offset: number; wrong: string },
): HandoverError {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  const column = offset - before.lastIndexOf('\n');
  const message = `${path} cannot be read at line ${line}, column ${column}: ${wrong}`;
  return new HandoverError('HANDOVER_JSON_INVALID', message, {
    hint: 'Nothing was changed. Fix that line and try again, or leave the agent out by naming others with --agent.',
    data: { path, line, column },
  });
}

/** The value at a path of keys and indices; null when there is none. Of two equal keys the last one counts. */
export function findNode(root: Node, path: readonly (string | number)[]): Node | null {
  let node: Node | undefined = root;
  for (const step of path) {
    const children: readonly Node[] = node?.children ?? [];
    node =
      typeof step === 'number'
        ? children[step]
        : children.findLast(({ type, children: [key] = [] }) => type === 'property' && key?.value === step)
            ?.children?.[1];
  }
  return node ?? null;
}

/** Adds a value at the end of an array, or a property at the end of an object. */
export function append(text: string, container: Node, child: { key?: string; value: unknown }): string {
  const style = readStyle(text);
  const spread = isSpread(text, container);
  const indent = spread ? childIndent(text, container, style) : '';
  const name = child.key === undefined ? '' : `${JSON.stringify(child.key)}:${spread ? ' ' : ''}`;
  const added = `${spread ? `${style.eol}${indent}` : ''}${name}${print(child.value, style, spread ? indent : null)}`;
  const last = container.children?.at(-1);
  if (last === undefined) return fillEmpty(text, container, added);
  const end = endOf(last);
  const comma = findComma(text, end, endOf(container) - 1);
  const at = skipComments(text, comma === null ? end : comma + 1);
  if (comma === null) return splice(splice(text, at, at, added), end, end, ',');
  return splice(text, at, at, `${added},`);
}

function fillEmpty(text: string, container: Node, added: string): string {
  const close = endOf(container) - 1;
  const at = afterText(text, container.offset + 1, close);
  const rest = text.slice(at, close);
  const { eol } = readStyle(text);
  const closing = added.startsWith(eol) && !LINE_END.test(rest) ? `${eol}${lineIndent(text, container.offset)}` : '';
  return splice(text, at, closing === '' ? at : close, `${added}${closing}`);
}

/** Takes an item out of its list, or a value with its key out of its object, and the comma that is left over. */
export function remove(text: string, value: Node): string {
  const child = value.parent?.type === 'property' ? value.parent : value;
  const container = child.parent;
  if (container === undefined) return text;
  const children = container.children ?? [];
  const previous = children[children.indexOf(child) - 1];
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

/** A new document, with the byte order mark and line ends of the blank text that it replaces. */
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

/** Whether what is added gets lines of its own: where others have them, and in an empty container below line one. */
function isSpread(text: string, container: Node): boolean {
  if (LINE_END.test(text.slice(container.offset, endOf(container)))) return true;
  const isEmpty = (container.children ?? []).length === 0;
  return isEmpty && (container.parent === undefined || LINE_END.test(text.slice(0, container.offset)));
}

function childIndent(text: string, container: Node, { unit }: Style): string {
  const first = container.children?.find(
    ({ offset }) => text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset).trim() === '',
  );
  return first === undefined ? `${lineIndent(text, container.offset)}${unit}` : lineIndent(text, first.offset);
}

function lineIndent(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
}

/** The end of the last comment that begins on the same line; `from` when there is none. */
function skipComments(text: string, from: number): number {
  const comments = /(?:[ \t]*\/\*[^\r\n]*?\*\/)*(?:[ \t]*(?:\/\/[^\r\n]*|\/\*[\s\S]*?\*\/))?/y;
  comments.lastIndex = from;
  return from + (comments.exec(text)?.[0].length ?? 0);
}

function findComma(text: string, from: number, to: number): number | null {
  const trivia = /(?:\s+|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/y;
  trivia.lastIndex = from;
  const at = from + (trivia.exec(text)?.[0].length ?? 0);
  return at < to && text.charAt(at) === ',' ? at : null;
}

/** The end of the last text before `to` that is not white space; at least `from`. */
function afterText(text: string, from: number, to: number): number {
  return from + text.slice(from, to).trimEnd().length;
}

function endOf(node: Node): number {
  return node.offset + node.length;
}

function splice(text: string, from: number, to: number, added: string): string {
  return `${text.slice(0, from)}${added}${text.slice(to)}`;
}
