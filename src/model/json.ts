import { HandoverError } from '../errors.ts';

interface JsonLimits {
  maxBytes: number;
  maxDepth: number;
}

export const RECORD_LIMITS: JsonLimits = { maxBytes: 16 * 1024 * 1024, maxDepth: 64 };

/**
 * Parses untrusted text. Size and depth are checked before the parser runs, because `JSON.parse`
 * accepts nesting that no later walk survives. Keys named `__proto__` are dropped: copying them would change a prototype.
 * `what` names the input in the error.
 */
export function parseJson(text: string, what: string, limits: JsonLimits = RECORD_LIMITS): unknown {
  if (text.length > limits.maxBytes) {
    throw new HandoverError('HANDOVER_JSON_INVALID', `${what} is larger than ${limits.maxBytes} bytes`);
  }
  if (isDeeper(text, limits.maxDepth)) {
    const message = `${what} is nested more than ${limits.maxDepth} levels deep`;
    throw new HandoverError('HANDOVER_JSON_INVALID', message);
  }
  try {
    const value: unknown = JSON.parse(text);
    if (text.includes('__proto__') || text.includes('\\u005')) dropPrototypeKeys(value);
    return value;
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new HandoverError('HANDOVER_JSON_INVALID', `${what} is not valid JSON`, { cause });
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Whether brackets outside strings are nested deeper than this. */
function isDeeper(text: string, maxDepth: number): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = findStringEnd(text, i);
    else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      depth++;
      if (depth > maxDepth) return true;
    } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) depth--;
  }
  return false;
}

/** The quote that closes the string which begins at a place; the end of the text where there is none. */
function findStringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}

function dropPrototypeKeys(root: unknown): void {
  const open: unknown[] = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (Object.hasOwn(value, '__proto__')) Reflect.deleteProperty(value, '__proto__');
    for (const child of Object.values(value)) open.push(child);
  }
}

/** Applies `change` to every string and key of a JSON value. A key that becomes `__proto__` is dropped. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [change(key), mapTexts(item, change)]);
  return Object.fromEntries(entries.filter(([key]) => key !== '__proto__'));
}
