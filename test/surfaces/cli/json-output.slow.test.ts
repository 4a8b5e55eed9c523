import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMMAND_SCHEMAS } from '../../../scripts/command-schemas.mjs';
import { AGENT_NAMES } from '../../../src/agents/agent.ts';
import type { Handover } from '../../../src/model/handover.ts';
import { COMMANDS } from '../../../src/surfaces/cli/commands/table.ts';
import { captureWork } from '../../support/captured-work.ts';
import { inPairs, makeSandbox, runGit, type Sandbox } from '../../support/cli.ts';
import { writeSession, writeWork } from '../../support/hooks.ts';
import { configure } from '../../support/publishing.ts';

let sandbox: Sandbox;
let captured: Handover;
let bundle: string;
let key: string;

beforeAll(async () => {
  sandbox = makeSandbox();
  const { project, home, folder } = sandbox;
  runGit(project, 'init', '--quiet');
  writeFileSync(join(project, 'a.ts'), `const token = "ghp_${'a1'.repeat(18)}";\n`);
  runGit(project, 'add', '.');
  runGit(project, 'commit', '--quiet', '--message', 'Begin');
  mkdirSync(join(home, '.codex'));
  mkdirSync(join(folder, 'drive'));
  configure(
    sandbox,
    `[publish]\nbackend = "folder"\nfolder.path = "${join(folder, 'drive')}"\n[verify]\nrun = ["npm test"]\n`,
  );
  captured = await captureWork(sandbox, {
    day: 9,
    steps: [
      { ask: 'Fix the login in src/login.ts, and do not touch a.ts' },
      { say: 'We use sessions, because tokens expire.' },
      { edit: 'src/login.ts' },
      { run: 'npm test', output: 'Error: boom at login', fails: true },
      { edit: 'src/login.ts' },
      { run: 'npm test', output: 'ok, 3 passed' },
    ],
  });
  const uncaptured = writeSession(sandbox);
  writeWork(uncaptured, { goal: 'Tidy up', file: join(project, 'b.ts'), decision: 'We keep it.' });
  await sandbox.save('Where things stand', '--next', 'Write tests', '--decision', 'Use tabs');
  key = (await sandbox.json<{ public_key: string }>(['keys', 'generate', '--name', 'me'])).public_key;
  bundle = join(folder, 'work.handover');
  const record = { id: '20250101-120000', created_at: '2025-01-01T12:00:00Z', tool: 'codex', project: '/gone/shop' };
  const items = [{ ...record, title: 'Checkout', summary: 'Half done', next: ['Ship'], changed: [] }];
  writeFileSync(join(folder, 'handoffs.json'), JSON.stringify({ version: 1, items }));
});

/** Calls of every command, in an order in which each finds what it needs. */
function listCalls(): string[][] {
  const [fact] = captured.facts.filter(({ kind }) => kind === 'goal');
  const marked = [fact?.id ?? '', '--in', captured.id];
  return [
    ['save', 'Another note', '--next', 'Go on'],
    ['capture'],
    ['backfill', '--dry-run'],
    ['backfill'],
    ['sessions'],
    ['sessions', '0009'],
    ['list'],
    ['list', '--status'],
    ['search', 'login'],
    ['search', 'login', '--sessions'],
    ['search', '--sessions'],
    ['search', 'zzzz'],
    ['show'],
    ['show', captured.id, '--events'],
    ['select', '--print-id'],
    ['why', 'src/login.ts'],
    ['errors', 'Error: boom at login'],
    ['files'],
    ['pin', ...marked],
    ['unpin', ...marked],
    ['resolve', ...marked],
    ['refute', ...marked, '--because', 'it was another one'],
    ['timeline'],
    ['debt'],
    ['report'],
    ['diff'],
    ['diff', '--all'],
    ['diff', '--chain'],
    ['merge', captured.id, 'latest'],
    ['verify'],
    ['verify', captured.id, '--run'],
    ['render'],
    ['resume'],
    ['restore'],
    ['redact', 'a.ts'],
    ['snapshot'],
    ['snapshot', '--stdout'],
    ['snapshot', '--earlier'],
    ['auto'],
    ['run', '--note', 'x', '--dry-run'],
    ['run', '--note', 'x'],
    ['run', '--resume'],
    ['check'],
    ['status'],
    ['pause', '--why', 'a release'],
    ['status'],
    ['unpause'],
    ['compact'],
    ['push', '--dry-run'],
    ['push'],
    ['keys', 'list'],
    ['keys', 'export'],
    ['keys', 'revoke', 'nobody'],
    ['export', '--sign', '--output', bundle],
    ['export', '--dry-run'],
    ['keys', 'trust', key, '--name', 'me'],
    ['import', bundle, '--on-conflict', 'skip'],
    ['remote', 'add', 'team', '../home'],
    ['remote', 'list'],
    ['remote', 'test'],
    ['sync', '--dry-run'],
    ['sync', '--yes'],
    ['offer', captured.id, '--label', 'nightly'],
    ['who'],
    ['take', captured.id, 'codex'],
    ['who', captured.id],
    ['status'],
    ['release', '--done'],
    ['remote', 'remove', 'team'],
    ['to', 'claude', '--print'],
    ['cleanup'],
    ['init', '--dry-run'],
    ['init', '--yes'],
    ['init', '--remove'],
    ['hooks', 'install'],
    ['hooks', 'status'],
    ['hooks', 'uninstall'],
    ['doctor'],
    ['debug'],
    ['migrate', '--workspace', '.'],
    ['migrate', '--from', join(sandbox.folder, 'handoffs.json')],
    ['forget', '--session', captured.session.id ?? ''],
    ['forget', captured.id],
    ['show', 'nowhere'],
  ];
}

const AGENTS: readonly string[] = AGENT_NAMES;

/** The names of all fields. Those of agents are data. */
function listFields(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(listFields);
  const fields = Object.entries(value).filter(([name]) => !AGENTS.includes(name));
  return fields.flatMap(([name, inner]) => [name, ...listFields(inner)]);
}

describe('with --json', () => {
  it('every command prints documents with names in snake_case, a version, and the fields that schemas/commands describes', {
    timeout: 300_000,
  }, async () => {
    const met = new Set<string>();
    const failed: string[] = [];
    for (const args of listCalls()) {
      const { status, stdout, stderr } = await sandbox.run([...args, '--json']);
      const called = `handover ${args.join(' ')}`;
      const document: unknown = JSON.parse(stdout === '' ? stderr : stdout);
      const name = stdout === '' ? 'error' : (args[0] ?? '');
      if (name !== 'error') met.add(name);
      else failed.push(`${called}: ${stderr}`);
      expect([called, status, listFields(document).filter((field) => !/^[a-z][a-z0-9_]*$/.test(field))]).toEqual([
        called,
        status,
        [],
      ]);
      const schema = COMMAND_SCHEMAS[name] ?? v.never();
      const { issues } = v.safeParse(schema, document);
      expect([called, issues?.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`)]).toEqual([called, undefined]);
    }
    expect(failed).toEqual([expect.stringContaining('revoke nobody'), expect.stringContaining('show nowhere')]);
    const withJson = await inPairs(Object.entries(COMMANDS), async ([name, load]) => {
      const target = await load();
      const takesJson = 'getAllEntries' in target || Object.hasOwn(target.parameters.flags ?? {}, 'json');
      return takesJson ? [name] : [];
    });
    expect([...met].sort()).toEqual(withJson.flat().sort());
  });
});
