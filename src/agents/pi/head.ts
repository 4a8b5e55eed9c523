import { readHead } from '../../platform/external-file.ts';
import type { FoundSession } from '../agent.ts';
import { getText, parseRow, type Row } from '../json.ts';
import { toMs } from '../make-events.ts';

const HEAD_BYTES = 64 * 1024;

/** The session that a file holds, from its first line; null when the file is none of pi's. */
export function describeFile(path: string): FoundSession | null {
  const file = readHead(path, HEAD_BYTES);
  if (file === null) return null;
  const lines = file.bytes.toString('utf8').split('\n');
  const header = parseRow(lines[0] ?? '');
  const id = header === null ? null : getText(header, 'id');
  const cwd = header === null ? null : getText(header, 'cwd');
  if (header === null || header.type !== 'session' || id === null || cwd === null) return null;
  return {
    agent: 'pi',
    id,
    path,
    cwd: cwd === '' ? null : cwd,
    title: findName(lines),
    startedMs: toMs(header.timestamp),
    changedMs: file.changedMs,
    bytes: file.size,
    parent: null,
  };
}

/** The name that the user gave the session, if that was near its beginning; the last one counts. */
function findName(lines: string[]): string | null {
  for (const line of lines.toReversed()) {
    if (!line.startsWith('{"type":"session_info"')) continue;
    const info: Row | null = parseRow(line);
    const name = info === null ? null : getText(info, 'name');
    if (name !== null) return name.toWellFormed();
  }
  return null;
}
