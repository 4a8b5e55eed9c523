import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { acquireLock } from '../../../src/platform/lock.ts';
import { Transcript } from '../../fixtures/agents/claude-code.ts';
import * as codex from '../../fixtures/agents/codex.ts';
import { makeSandbox, makeTempFolder, type Sandbox } from '../../support/cli.ts';
import { startAgent, waitForWorkers, writeSession } from '../../support/hooks.ts';

interface Row {
  id: string;
  title: string;
  agent: string;
}

const idOf = (day: number): string => `5b0c7f0e-4b5e-4f0a-9d57-0000000000${String(day).padStart(2, '0')}`;

/** A session of Claude Code on a day of January 2026. */
function writeOld(sandbox: Sandbox, day: number, { cwd = sandbox.project } = {}): string {
  const path = join(sandbox.home, '.claude', 'projects', '-project', `${idOf(day)}.jsonl`);
  const at = `2026-01-${String(day).padStart(2, '0')}T09:00:00.000Z`;
  const transcript = new Transcript({ cwd, sessionId: idOf(day), timestamp: at });
  transcript.human(`Make part ${day} of the importer`);
  transcript.say(`Part ${day} reads its file row by row.`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, transcript.text);
  return path;
}

function writeCodex(sandbox: Sandbox): void {
  const path = join(sandbox.home, '.codex/sessions/2026/01/05', `rollout-2026-01-05T09-00-00-${codex.THREAD}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  const rows = [
    codex.meta({ cwd: sandbox.project }),
    codex.event('user_message', { message: 'Write the export' }),
    codex.message('assistant', 'The export is written.'),
  ];
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
}

const QUESTIONS = [['why', 'src/a.ts'], ['errors', 'no such column'], ['errors'], ['files'], ['timeline'], ['debt']];
/** These need a handover. */
const NEEDS_ONE = [
  ...[['render'], ['show'], ['verify'], ['export', '--output', 'one.bundle'], ['show', 'latest'], ['restore']],
  ...[['list', '--project', '.'], ['select', '--project', '.'], ['report']],
];

const list = (sandbox: Sandbox): Promise<Row[]> => sandbox.json<Row[]>(['list', '--limit', '0']);

describe('backfill', () => {
  it('captures every session that was never captured, once, each after the one before it', async () => {
    const sandbox = makeSandbox();
    for (const day of [3, 1, 2]) writeOld(sandbox, day);
    writeCodex(sandbox);
    expect(await sandbox.ok(['backfill'])).toMatch(/^captured 4 of 4 sessions in /);
    const rows = await list(sandbox);
    expect(rows.map(({ agent }) => agent).sort()).toEqual(['claude-code', 'claude-code', 'claude-code', 'codex']);
    const find = (day: number): string => rows.find(({ title }) => title.includes(`part ${day}`))?.id ?? '';
    const previous = async (id: string): Promise<unknown> =>
      (await sandbox.json<{ previous: string | null }>(['show', id])).previous;
    expect(await previous(find(2))).toBe(find(1));
    expect(await previous(find(3))).toBe(find(2));
    expect(await sandbox.ok(['backfill'])).toBe('no session is left to capture; those that were forgotten stay so\n');
    expect(await list(sandbox)).toHaveLength(4);
  });

  it('shows with --dry-run how much there is, and captures nothing', async () => {
    const sandbox = makeSandbox();
    for (const day of [1, 2]) writeOld(sandbox, day);
    expect(await sandbox.ok(['backfill', '--dry-run'])).toMatch(
      /^2 sessions never captured: 0\.0 MB, about a second\n {2}claude-code +2\n$/,
    );
    expect(await sandbox.json(['backfill', '--dry-run'])).toMatchObject({ sessions: 2, agents: { 'claude-code': 2 } });
    expect(await list(sandbox)).toEqual([]);
  });

  it('captures only sessions of the agent, the project and the time that are named', async () => {
    const sandbox = makeSandbox();
    const other = join(sandbox.folder, 'other');
    mkdirSync(other);
    writeOld(sandbox, 1);
    writeOld(sandbox, 2, { cwd: other });
    writeCodex(sandbox);
    await sandbox.ok(['backfill', '--since', '2099-01-01']);
    expect(await list(sandbox)).toEqual([]);
    await sandbox.ok(['backfill', '--project', other]);
    expect((await list(sandbox)).map(({ title }) => title)).toEqual(['Make part 2 of the importer']);
    await sandbox.ok(['backfill', '--agent', 'codex']);
    expect((await list(sandbox)).map(({ agent }) => agent).sort()).toEqual(['claude-code', 'codex']);
  });

  it('says which sessions it cannot read and why, and captures the others', async () => {
    const sandbox = makeSandbox();
    const path = writeOld(sandbox, 1);
    const writeRows = (day: number, type: string, count: number): void => {
      const transcript = new Transcript({ cwd: sandbox.project, sessionId: idOf(day) });
      for (let i = 0; i < count; i++) transcript.row({ type, content: '' });
      writeFileSync(path.replace(idOf(1), idOf(day)), transcript.text);
    };
    writeRows(9, 'system', 1);
    writeRows(3, 'utterance', 60);
    writeOld(sandbox, 2);
    const { status, stdout } = await sandbox.run(['backfill']);
    expect(status).toBe(0);
    expect(stdout).toContain('captured 2 of 4 sessions');
    expect(stdout).toContain('1 empty');
    expect(stdout).toMatch(new RegExp(`refused .*${idOf(3)}.jsonl: nothing in it was understood`));
  });

  it('keeps what was captured after the agent deleted the session, and nothing that was forgotten', async () => {
    const sandbox = makeSandbox();
    const gone = writeOld(sandbox, 1);
    writeOld(sandbox, 2);
    await sandbox.ok(['backfill']);
    rmSync(gone);
    const rows = await list(sandbox);
    const second = rows.find(({ title }) => title.includes('part 2'))?.id ?? '';
    await sandbox.ok(['forget', second]);
    await sandbox.ok(['backfill']);
    expect((await list(sandbox)).map(({ title }) => title)).toEqual(['Make part 1 of the importer']);
    expect(await sandbox.ok(['search', 'importer'])).toContain('part 1');
  });

  it('is what every command suggests that finds nothing while sessions were never captured', async () => {
    const sandbox = makeSandbox();
    for (const day of [1, 2]) writeOld(sandbox, day);
    const suggestion = 'next: 2 sessions were never captured: handover backfill --project .\n';
    for (const args of [...QUESTIONS, ...NEEDS_ONE]) expect((await sandbox.run(args)).stderr).toContain(suggestion);
    const all = 'next: 2 sessions were never captured: handover backfill\n';
    for (const args of [['list'], ['select'], ['timeline', '--all']])
      expect((await sandbox.run(args)).stderr).toContain(all);
    await sandbox.ok(['backfill', '--project', '.']);
    expect(await sandbox.ok(['timeline'])).toContain('Make part 2 of the importer');
    for (const args of NEEDS_ONE.slice(0, 4)) expect((await sandbox.run(args)).status).not.toBe(66);
  });

  it('is not suggested where nothing can be captured, or only the session that asks', async () => {
    const sandbox = makeSandbox();
    writeOld(sandbox, 1);
    writeFileSync(writeOld(sandbox, 2), '{"type":"nonsense"}\n');
    const env = { CLAUDE_CODE_SESSION_ID: idOf(1) };
    const note = 'next: Leave a note: handover save "where things stand"\n';
    for (const args of [...QUESTIONS, ...NEEDS_ONE, ['list']])
      expect((await sandbox.run(args, { env })).stderr).toContain(note);
  });

  it('gives way to the handovers of other projects where this one has no session', async () => {
    const sandbox = makeSandbox();
    const elsewhere = makeTempFolder();
    await sandbox.ok(['save', 'of another project'], { cwd: elsewhere });
    const { stderr } = await sandbox.run(['why', 'src/my file.ts', '--limit', '3']);
    expect(stderr).toContain("next: Ask about all projects: handover why 'src/my file.ts' --all --limit 3\n");
    for (const args of [['export'], ['render'], ['verify'], ['restore'], ['list', '--project', '.']])
      expect((await sandbox.run(args)).stderr).toContain('next: List handovers: handover list\n');
  });

  it('hands nothing old to a session that starts afterwards', async () => {
    const sandbox = makeSandbox();
    writeOld(sandbox, 1);
    await sandbox.ok(['backfill']);
    const agent = startAgent(sandbox);
    const session = writeSession(sandbox);
    expect(await agent.receive('SessionStart', session.input({ source: 'startup' }))).toBeNull();
    await agent.end();
    await waitForWorkers(sandbox);
    expect((await sandbox.run(['restore'])).status).toBe(77);
  });

  it('runs once at a time', async () => {
    const sandbox = makeSandbox();
    writeOld(sandbox, 1);
    const lock = acquireLock({
      folder: join(sandbox.store, 'locks'),
      name: 'backfill',
      waitMs: 0,
      clock: sandbox.machine.clock,
    });
    const { status, stderr } = await sandbox.run(['backfill']);
    lock.release();
    expect([status, stderr]).toEqual([75, expect.stringContaining('backfill')]);
    await sandbox.ok(['backfill']);
    expect(await list(sandbox)).toHaveLength(1);
  });

  it('stops where the store cannot be written', async () => {
    const sandbox = makeSandbox();
    writeOld(sandbox, 1);
    await sandbox.save('--title', 'first');
    const folder = join(sandbox.store, 'handovers');
    rmSync(folder, { recursive: true });
    writeFileSync(folder, '');
    chmodSync(folder, 0o600);
    const { status } = await sandbox.run(['backfill']);
    expect(status).not.toBe(0);
  });

  it('works in the background when asked to', async () => {
    const sandbox = makeSandbox();
    for (const day of [1, 2]) writeOld(sandbox, day);
    expect(await sandbox.ok(['backfill', '--background'])).toMatch(/^capturing 2 sessions in the background/);
    await expect.poll(async () => (await list(sandbox)).length).toBe(2);
  });
});
