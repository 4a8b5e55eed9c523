import { basename } from 'node:path';
import { readHead } from '../../platform/external-file.ts';
import type { FoundSession, Reading } from '../agent.ts';
import { getNumber, getRow, getText, parseRow, type Row } from '../json.ts';
import { readJsonLines } from '../json-lines.ts';
import { type Message, toMilliseconds } from './messages.ts';

const HEAD_BYTES = 64 * 1024;

/** A session of a release before there was a database: a line about the session, then a line a message. */
export function describeFile(path: string): FoundSession | null {
  const head = readHead(path, HEAD_BYTES);
  if (head === null || !path.endsWith('.jsonl')) return null;
  const [first = '', second = ''] = head.bytes.toString('utf8').split('\n', 2);
  const about = parseRow(first);
  const cwd = about === null ? null : getText(about, 'working_dir');
  if (about === null || cwd === null) return null;
  return {
    agent: 'goose',
    id: basename(path, '.jsonl'),
    path,
    cwd,
    title: getText(about, 'description')?.toWellFormed() || null,
    startedMs: readCreated(parseRow(second)),
    changedMs: head.changedMs,
    bytes: head.size,
    parent: null,
  };
}

function readCreated(row: Row | null): number | null {
  const created = row === null ? null : getNumber(row, 'created');
  return created === null ? null : toMilliseconds(created);
}

export function* readFileMessages(path: string, reading: Reading): Generator<Message> {
  for (const { row, line } of readJsonLines(path, reading)) {
    if (getText(row, 'working_dir') !== null && !('role' in row)) continue;
    yield {
      line,
      id: getText(row, 'id'),
      role: getText(row, 'role') ?? '',
      created: getNumber(row, 'created'),
      content: row.content,
      metadata: getRow(row, 'metadata'),
    };
  }
}
