import type { RawRecord } from './session-handoff-bundle.ts';

/** As Go's encoding/json writes text: markup and line separators escaped, everything else as it is. */
export function formatGoText(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The record in the form that session-handoff takes its checksum of. */
export function formatGoRecord(record: RawRecord): string {
  const list = (texts: readonly string[]): string => `[${texts.map(formatGoText).join(',')}]`;
  const { id, created_at, tool, project, title, summary, next, changed } = record;
  const members = Object.entries({ id, created_at, tool, project, title, summary }).map(
    ([key, text]) => `"${key}":${formatGoText(text)}`,
  );
  members.push(`"next":${next === null ? 'null' : list(next)}`);
  if (changed.length > 0) members.push(`"changed":${list(changed)}`);
  return `{${members.join(',')}}`;
}

/** The same with an indent of two, as Go's MarshalIndent has it. Empty lists stay on their line. */
export function indentJson(json: string): string {
  let out = '';
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const char = json.charAt(at);
    if (char === '"') {
      const end = endOfText(json, at);
      out += json.slice(at, end);
      at = end - 1;
    } else if (char === '{' || char === '[') {
      const isEmpty = json.charAt(at + 1) === '}' || json.charAt(at + 1) === ']';
      out += isEmpty ? char + json.charAt(++at) : `${char}\n${'  '.repeat(++depth)}`;
    } else if (char === '}' || char === ']') out += `\n${'  '.repeat(--depth)}${char}`;
    else if (char === ',') out += `,\n${'  '.repeat(depth)}`;
    else out += char === ':' ? ': ' : char;
  }
  return out;
}

function endOfText(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    if (json.charAt(at) === '\\') at++;
    else if (json.charAt(at) === '"') return at + 1;
  }
  return json.length;
}
