import { basename, dirname, join } from 'node:path';
import { listNames, readHead } from '../../platform/external-file.ts';
import type { Machine } from '../../platform/machine.ts';
import type { FoundSession } from '../agent.ts';
import { findAgentHome, HEAD_BYTES } from '../shared/files.ts';
import { getRow, getText, parseAny, parseRow, type Row, toMs } from '../shared/json.ts';

const EVENTS = 'events.jsonl';

/** A folder for each session; older versions wrote one file. */
export function* listTranscripts(machine: Machine): Generator<string> {
  const home = findAgentHome('copilot', machine);
  if (home === null) return;
  const states = join(home, 'session-state');
  for (const name of listNames(states)) {
    yield name.endsWith('.jsonl') ? join(states, name) : join(states, name, EVENTS);
  }
}

const WORKSPACE_BYTES = 16 * 1024;
const START = /^\s{0,8}\{"type":"session\.start"/;

/** The session in an events file; null for other files. */
export function inspectFile(path: string): FoundSession | null {
  const head = readHead(path, HEAD_BYTES);
  const start = head === null ? null : readStart(head.bytes);
  if (head === null || start === null) return null;
  const data = getRow(start, 'data');
  const hasFolder = basename(path) === EVENTS;
  const workspace = hasFolder ? readWorkspace(dirname(path)) : new Map<string, string>();
  return {
    agent: 'copilot',
    id: getText(data, 'sessionId') ?? (hasFolder ? basename(dirname(path)) : basename(path, '.jsonl')),
    path,
    cwd: getText(getRow(data, 'context'), 'cwd') ?? workspace.get('cwd') ?? null,
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

/** The plain `key: value` lines of a small YAML file. Ignores blocks and lists. */
function readWorkspace(folder: string): Map<string, string> {
  const head = readHead(join(folder, 'workspace.yaml'), WORKSPACE_BYTES);
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
