import { isDeepStrictEqual } from 'node:util';
import { parse, TomlError } from 'smol-toml';
import { SERVER_NAME, type TableFile } from '../../agents/hook-setup.ts';
import { HandoverError } from '../../errors.ts';
import { compareServer, foreignServerError, NO_SERVER, type ServerInspection } from './entries.ts';

/* The file is edited as text, then parsed: if anything but our table changed its meaning, nothing is written. */

const MARK = '# Written by "handover hooks install", removed by "handover hooks uninstall".';

export function inspectTable(file: TableFile, text: string | null): ServerInspection {
  const settings = text === null ? undefined : findServers(file, readToml(file, text))[SERVER_NAME];
  return settings === undefined ? NO_SERVER : compareServer(settings, file, file.value);
}

/** The text with our table at the end. One that is there already is updated where it is. */
export function addTable(file: TableFile, text: string | null): string {
  if (text === null || text === '') return printTable(file, '\n');
  const { state } = inspectTable(file, text);
  if (state === 'same') return text;
  if (state === 'foreign') throw foreignServerError(file.path);
  const eol = /\r?\n/.exec(text)?.[0] ?? '\n';
  const added = state === 'missing' ? `${text}${eol}${printTable(file, eol)}` : updateTable(file, text);
  assertOnlyOurs(file, text, added);
  return added;
}

/** The text without our table and those below it. */
export function removeTable(file: TableFile, text: string): string {
  if (inspectTable(file, text).launcher === null) return text;
  const ranges = listRanges(file, text);
  const rest = ranges.reduceRight((result, { from, to }) => result.slice(0, from) + result.slice(to), text);
  assertOnlyOurs(file, text, rest);
  return rest;
}

function printTable({ section, value }: TableFile, eol: string): string {
  const keys = Object.entries(value).map(([key, item]) => `${key} = ${JSON.stringify(item)}`);
  return [MARK, `[${section}.${SERVER_NAME}]`, ...keys, ''].join(eol);
}

function updateTable(file: TableFile, text: string): string {
  const [table] = listRanges(file, text);
  if (table === undefined) throw tableShapeError(file);
  const lines = Object.entries(file.value).reduce(
    (result, [key, item]) =>
      result.replace(
        new RegExp(`^([ \\t]*${key}[ \\t]*=[ \\t]*)[^\\r\\n]*`, 'm'),
        (_, start: string) => `${start}${JSON.stringify(item)}`,
      ),
    text.slice(table.from, table.to),
  );
  return `${text.slice(0, table.from)}${lines}${text.slice(table.to)}`;
}

/** Our table and the tables below it, each with our comment and the line end before it. */
function listRanges({ section }: TableFile, text: string): { from: number; to: number }[] {
  const name = (word: string): string => `(?:${word}|"${word}"|'${word}')`;
  const header = new RegExp(
    `^[ \\t]*\\[[ \\t]*${name(section)}[ \\t]*\\.[ \\t]*${name(SERVER_NAME)}[ \\t]*(?:\\.[^\\r\\n]*)?\\][^\\r\\n]*$`,
    'gm',
  );
  return [...text.matchAll(header)].map(({ index, 0: line }) => {
    const rest = text.slice(index + line.length);
    const next = /^[ \t]*\[/m.exec(rest)?.index ?? rest.length;
    const end = index + line.length + lastKeyEnd(rest.slice(0, next));
    const before = text.slice(0, index);
    const marked = before.trimEnd().endsWith(MARK) ? before.lastIndexOf(MARK) : index;
    const eol = /\r?\n$/.exec(text.slice(0, marked))?.[0].length ?? 0;
    return { from: marked - eol, to: end };
  });
}

/** To the end of the line with the last key: comments below it belong to what comes next. */
function lastKeyEnd(body: string): number {
  let end = 0;
  let at = 0;
  for (const line of body.split(/(?<=\n)/)) {
    at += line.length;
    if (line.trim() !== '' && !line.trimStart().startsWith('#')) end = at;
  }
  return end === 0 ? (/^\r?\n/.exec(body)?.[0].length ?? 0) : end;
}

/** Everything else in the file must be as it was. */
function assertOnlyOurs(file: TableFile, before: string, after: string): void {
  if (!isDeepStrictEqual(withoutOurs(file, before), withoutOurs(file, after))) throw tableShapeError(file);
}

function withoutOurs(file: TableFile, text: string): object {
  const document = readToml(file, text);
  const { [SERVER_NAME]: _, ...others } = findServers(file, document);
  return { ...document, [file.section]: others };
}

function findServers({ section }: TableFile, document: Record<string, unknown>): Record<string, unknown> {
  const servers = document[section];
  return typeof servers === 'object' && servers !== null ? { ...servers } : {};
}

function readToml({ path }: TableFile, text: string): Record<string, unknown> {
  try {
    return parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const { line, column } = cause;
    const message = `${path} cannot be read at line ${line}, column ${column}`;
    throw new HandoverError('HANDOVER_CONFIG_INVALID', message, {
      hint: 'Nothing was changed. Fix that line and try again, or leave the server out with --no-mcp.',
      cause,
      data: { path, line, column },
    });
  }
}

function tableShapeError({ path, section }: TableFile): HandoverError {
  const message = `${path} has its ${section} in a form that cannot be changed safely`;
  const hint = 'Nothing was changed. Write them as tables of their own, or leave the server out with --no-mcp.';
  return new HandoverError('HANDOVER_CONFIG_INVALID', message, { hint });
}
