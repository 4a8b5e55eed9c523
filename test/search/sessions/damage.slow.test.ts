import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SearchHit } from '../../../src/search/query.ts';
import { Transcript } from '../../fixtures/agents/claude-code.ts';
import { makeSandbox, type Sandbox } from '../../support/cli.ts';
import { connect } from '../../support/mcp.ts';
import { writeText } from '../../support/transcripts.ts';

interface Answer {
  hits: SearchHit[];
  sessions: { behind: number; damaged: number };
}

interface Examination {
  findings: { code: string; level: string; path: string; message: string; fixed: boolean }[];
}

const ID = '5b0c7f0e-4b5e-4f0a-9d57-000000000001';
const OTHER = '5b0c7f0e-4b5e-4f0a-9d57-000000000002';

function tell(sandbox: Sandbox, ...said: string[]): string {
  const t = new Transcript({ sessionId: ID, cwd: sandbox.project });
  for (const text of said) t.human(text);
  return writeText(join(sandbox.home, '.claude/projects/-app', `${ID}.jsonl`), t.text);
}

const find = async (sandbox: Sandbox): Promise<Answer> =>
  await sandbox.json<Answer>(['search', '--sessions', 'medlar']);

function findArchive(sandbox: Sandbox): string {
  const folder = join(sandbox.store, 'sessions');
  const [name = ''] = readdirSync(folder).filter((entry) => entry.endsWith('.gz'));
  return join(folder, name);
}

/** A session that its agent has deleted, and whose text is stored. */
async function keepGone(): Promise<{ sandbox: Sandbox; archive: string; whole: Buffer }> {
  const sandbox = makeSandbox();
  const path = tell(sandbox, 'The medlar is ripe');
  await find(sandbox);
  rmSync(path);
  await find(sandbox);
  const archive = findArchive(sandbox);
  return { sandbox, archive, whole: readFileSync(archive) };
}

const examine = async (sandbox: Sandbox, ...flags: string[]): Promise<Examination['findings']> =>
  JSON.parse((await sandbox.run(['doctor', '--json', ...flags])).stdout).findings;

const textFindings = async (sandbox: Sandbox, ...flags: string[]): Promise<Examination['findings']> =>
  (await examine(sandbox, ...flags)).filter(({ code }) => code === 'damaged-session-text');

describe('the damaged copy of a session that its agent deleted', () => {
  it('is still found by the index, reported, and rewritten by doctor --fix', async () => {
    const { sandbox, archive } = await keepGone();
    rmSync(archive);
    writeFileSync(archive, 'rot', { mode: 0o600 });
    const { hits, sessions } = await find(sandbox);
    expect(hits[0]?.text).toBe('The medlar is ripe');
    expect(sessions.damaged).toBe(1);
    const { stderr } = await sandbox.run(['search', '--sessions', 'medlar']);
    expect(stderr).toContain('is damaged (1); see: handover doctor');
    expect(await textFindings(sandbox)).toMatchObject([{ level: 'damage', path: archive, fixed: false }]);
    expect(readFileSync(archive, 'latin1')).toBe('rot');
    expect(await textFindings(sandbox, '--fix')).toMatchObject([{ fixed: true }]);
    expect(await textFindings(sandbox)).toEqual([]);
    const aside = readdirSync(join(sandbox.store, 'quarantine'));
    expect(aside.map((name) => readFileSync(join(sandbox.store, 'quarantine', name), 'latin1'))).toEqual(['rot']);
    expect((await find(sandbox)).sessions.damaged).toBe(0);
    rmSync(join(sandbox.store, 'sessions.sqlite'));
    expect((await find(sandbox)).hits[0]?.text).toBe('The medlar is ripe');
  });

  it('survives a rebuild of the index', async () => {
    const { sandbox, archive } = await keepGone();
    writeFileSync(archive, 'rot');
    rmSync(join(sandbox.store, 'sessions.sum'));
    const index = join(sandbox.store, 'sessions.sqlite');
    const bytes = readFileSync(index);
    // The version, by which the index is known for one of another program.
    bytes.writeUInt32BE(bytes.readUInt32BE(60) + 1, 60);
    writeFileSync(index, bytes);
    await find(sandbox);
    expect(readFileSync(archive, 'latin1')).toBe('rot');
    expect(await textFindings(sandbox)).toMatchObject([{ level: 'damage' }]);
  });

  it('is quarantined where nothing else is left, and never deleted', async () => {
    const { sandbox, archive } = await keepGone();
    writeFileSync(archive, 'rot');
    rmSync(join(sandbox.store, 'sessions.sqlite'));
    expect(await textFindings(sandbox)).toMatchObject([{ message: expect.stringContaining('none of it can be read') }]);
    expect((await find(sandbox)).hits).toEqual([]);
    expect(readFileSync(archive, 'latin1')).toBe('rot');
    expect(await textFindings(sandbox, '--fix')).toMatchObject([{ fixed: true }]);
    expect(existsSync(archive)).toBe(false);
    expect(readdirSync(join(sandbox.store, 'quarantine'))).toHaveLength(1);
  });

  it('is restored as far as its parts are intact', async () => {
    const { sandbox, archive, whole } = await keepGone();
    truncateSync(archive, whole.length - 3);
    rmSync(join(sandbox.store, 'sessions.sqlite'));
    expect(await textFindings(sandbox, '--fix')).toMatchObject([
      { message: expect.stringContaining('1 passages of it can still be read'), fixed: true },
    ]);
    expect((await find(sandbox)).hits[0]?.text).toBe('The medlar is ripe');
  });

  it('is deleted with all copies when the session is forgotten', async () => {
    const { sandbox, archive } = await keepGone();
    writeFileSync(archive, 'rot');
    await examine(sandbox, '--fix');
    await sandbox.ok(['forget', '--session', ID]);
    expect(readdirSync(join(sandbox.store, 'quarantine'))).toEqual([]);
  });
});

describe('handover doctor, checking search indexes', () => {
  it.each(['search', 'sessions', 'vectors'])('detects damage in %s.sqlite, and removes it', async (name) => {
    const sandbox = makeSandbox();
    tell(sandbox, 'The medlar is ripe');
    await find(sandbox);
    const path = join(sandbox.store, `${name}.sqlite`);
    writeFileSync(path, 'rot '.repeat(5000), { mode: 0o600 });
    rmSync(join(sandbox.store, `${name}.sum`), { force: true });
    expect(await examine(sandbox)).toMatchObject([{ code: 'damaged-index', level: 'damage', path }]);
    expect(await examine(sandbox, '--fix')).toMatchObject([{ fixed: true }]);
    expect(await examine(sandbox)).toEqual([]);
    expect((await find(sandbox)).hits[0]?.text).toBe('The medlar is ripe');
  });
});

describe('the MCP tool search', () => {
  it('answers with the sessions that it has read, and says how many are left', async () => {
    const sandbox = makeSandbox();
    const long = tell(sandbox, 'A long medlar', ...Array.from({ length: 8 }, () => 'word '.repeat(200_000)));
    utimesSync(long, new Date('2026-01-01'), new Date('2026-01-01'));
    const t = new Transcript({ sessionId: OTHER, cwd: sandbox.project });
    t.human('A short medlar');
    writeText(join(dirname(long), `${OTHER}.jsonl`), t.text);
    const { call } = await connect(sandbox);
    const { text } = await call('search', { query: 'medlar', sessions: true });
    expect(text).toContain('> session  A short medlar');
    expect(text).not.toContain('A long medlar');
    expect(text).toMatch(/1 session was not read yet/);
  });

  it('shows one line of a session, and all of them when asked about it', async () => {
    const sandbox = makeSandbox();
    tell(sandbox, 'The medlar is ripe', 'A medlar, a medlar', 'My medlar');
    const { call } = await connect(sandbox);
    const { text } = await call('search', { query: 'medlar', sessions: true });
    expect(text).toContain(`2 more lines of it match; ask with {"session":"${ID}"}`);
    const all = await call('search', { query: 'medlar', session: ID });
    expect(all.text.match(/^> session /gm)).toHaveLength(3);
  });

  it('does not wait for a long session, says that it is being read, and finds it later', async () => {
    const sandbox = makeSandbox();
    tell(sandbox, 'The medlar is ripe', ...Array.from({ length: 8 }, () => 'word '.repeat(200_000)));
    const { call } = await connect(sandbox);
    const early = await call('search', { query: 'medlar', sessions: true });
    expect(early.isError).toBe(false);
    expect(early.text).toMatch(/1 session was not read yet.*handover search --sessions$/m);
    expect(await sandbox.ok(['search', '--sessions'])).toBe('the text of 1 session is stored\n');
    const { text } = await call('search', { query: 'medlar', sessions: true });
    expect(text).toContain('> session  The medlar is ripe');
    const opening: Record<string, unknown> = JSON.parse(/get (\{.*\})/.exec(text)?.[1] ?? '{}');
    expect(opening).toEqual({ id: ID, line: 1 });
    expect((await call('get', opening)).text).toMatch(/^# Session \S+ of claude-code\n[\s\S]*> The medlar is ripe/);
    expect((await call('get', { id: ID.slice(0, 8), budget: 256 })).text).toMatch(/# Left out: \d+ lines/);
  });
});
