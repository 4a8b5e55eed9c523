import { cleanLine, cutToBytes } from '../../model/text.ts';
import { readHead } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';
import type { FoundSession } from '../agent.ts';
import { getRow, getText, parseRow, type Row } from '../json.ts';
import { toMs } from '../make-events.ts';
import { readHuman } from './messages.ts';
import { findCwd, findParent, listTranscripts, type Transcript } from './places.ts';

const HEAD_BYTES = 64 * 1024;

export function* findSessions(machine: Machine): Generator<FoundSession> {
  for (const transcript of listTranscripts(machine)) {
    const session = inspect(transcript);
    if (session !== null) yield session;
  }
}

export function inspectFile(path: string): FoundSession | null {
  return inspect({ path, cwd: findCwd(path) });
}

function inspect({ path, cwd }: Transcript): FoundSession | null {
  const file = readHead(path, HEAD_BYTES);
  if (file === null) return null;
  const head = readSessionHead(file.bytes.toString('utf8'));
  if (head === null) return null;
  return {
    agent: 'gemini',
    path,
    id: head.id,
    cwd: cwd === null ? null : cwd.toWellFormed(),
    title: head.title,
    startedMs: head.startedMs,
    changedMs: file.changedMs,
    bytes: file.size,
    parent: head.isSubAgent ? findParent(path) : null,
  };
}

interface SessionHead {
  id: string;
  title: string | null;
  startedMs: number | null;
  isSubAgent: boolean;
}

function readSessionHead(text: string): SessionHead | null {
  const lines = text.split('\n');
  const header = findHeader(lines[0] ?? '') ?? salvageHeader(text);
  const id = getText(header, 'sessionId')?.toWellFormed();
  if (id === undefined || id === '' || getText(header, 'projectHash') === null) return null;
  const isSubAgent = header.kind === 'subagent';
  const rows = lines
    .slice(1)
    .map(parseRow)
    .filter((row) => row !== null);
  return { id, title: readTitle(header, rows), startedMs: toMs(header.startTime), isSubAgent };
}

function findHeader(line: string): Row | null {
  return parseRow(line.replace(/^\ufeff/, ''));
}

const HEADER_FIELD =
  /^\s{0,8}"(sessionId|projectHash|startTime|kind|summary)":\s?"((?:[^"\\]|\\.){0,2000})",?$/gm;

/** Older versions keep a session as one document, with each field of its head on a line of its own. */
function salvageHeader(text: string): Row {
  if (!/^\s*\{\s*"/.test(text)) return {};
  const fields = [...text.slice(0, 4000).matchAll(HEADER_FIELD)].map(([, key = '', value = '']) => [
    key,
    value,
  ]);
  return Object.fromEntries(fields);
}

function readTitle(header: Row, rows: readonly Row[]): string | null {
  const summary = rows.flatMap((row) => getText(getRow(row, '$set'), 'summary') ?? []).at(-1);
  const told = summary ?? getText(header, 'summary') ?? findFirstPrompt(rows);
  const title = cutToBytes(cleanLine(told?.slice(0, 2000).trim().split('\n', 1)[0] ?? ''), 120);
  return title === '' ? null : title;
}

function findFirstPrompt(rows: readonly Row[]): string | null {
  for (const row of rows) {
    const text = row.type === 'user' ? readHuman(row).text : null;
    if (text !== null) return text;
  }
  return null;
}
