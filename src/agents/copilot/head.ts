import { readHead } from '../../platform/external-file.ts';
import type { FoundSession } from '../agent.ts';
import { getRow, getText, parseAny, parseRow, type Row } from '../shared/json.ts';
import { toMs } from '../shared/make-events.ts';
import { findWorkspaceFile, readIdFromPath } from './paths.ts';

const HEAD_BYTES = 64 * 1024;
const WORKSPACE_BYTES = 16 * 1024;
const START = /^\s{0,8}\{"type":"session\.start"/;

/** The session that an events file holds; null when it is not one. */
export function inspectTranscript(path: string): FoundSession | null {
  const head = readHead(path, HEAD_BYTES);
  if (head === null) return null;
  const start = readStart(head.bytes);
  if (start === null) return null;
  const data = getRow(start, 'data');
  const context = getRow(data, 'context');
  const workspace = readWorkspace(path);
  return {
    agent: 'copilot',
    id: getText(data, 'sessionId') ?? readIdFromPath(path),
    path,
    cwd: getText(context, 'cwd') ?? workspace.get('cwd') ?? null,
    title: workspace.get('name') ?? workspace.get('summary') ?? null,
    startedMs: toMs(data.startTime) ?? toMs(start.timestamp),
    changedMs: head.changedMs,
    bytes: head.size,
    parent: null,
  };
}

function readStart(bytes: Buffer): Row | null {
  const end = bytes.indexOf(0x0a);
  const line = bytes.subarray(0, end === -1 ? bytes.length : end).toString('utf8');
  const row = parseRow(line);
  if (row !== null) return row.type === 'session.start' ? row : null;
  return START.test(line) ? {} : null;
}

/** The plain `key: value` lines of a small YAML file. Blocks and lists in it are passed over. */
function readWorkspace(path: string): Map<string, string> {
  const file = findWorkspaceFile(path);
  const head = file === null ? null : readHead(file, WORKSPACE_BYTES);
  const values = new Map<string, string>();
  for (const line of head?.bytes.toString('utf8').split('\n') ?? []) {
    const [, key = '', value = ''] = /^(\w{1,40}): (.{1,2000})$/.exec(line.trimEnd()) ?? [];
    const text = unquote(value.trim());
    if (key !== '' && text !== '' && !/^[|>]/.test(value)) values.set(key, text.toWellFormed());
  }
  return values;
}

function unquote(value: string): string {
  if (/^'.*'$/.test(value)) return value.slice(1, -1).replaceAll("''", "'");
  const parsed = /^".*"$/.test(value) ? parseAny(value) : value;
  return typeof parsed === 'string' ? parsed : value;
}
