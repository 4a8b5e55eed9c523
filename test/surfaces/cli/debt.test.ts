import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { appendEntry } from '../../../src/store/journal.ts';
import { openStore } from '../../../src/store/store.ts';
import { type Json, SESSION_ID, Transcript } from '../../fixtures/agents/claude-code.ts';
import { captureWork } from '../../support/captured-work.ts';
import { makeSandbox } from '../../support/cli.ts';
import { connect } from '../../support/mcp.ts';
import { writeText } from '../../support/transcripts.ts';

interface Successor {
  session: string;
  follows: string;
  part: number;
  given: string;
  calls: number;
  found_again: number;
  files: number;
  commands: number;
  first_edit: { calls: number; tokens: number | null } | null;
  items?: { kind: string; text: string; line: number; before: { line: number | null; in: string }; open: string }[];
}
interface Answer {
  with_brief: { successors: number; enough: boolean; with_debt: number };
  without: { successors: number; enough: boolean; with_debt: number };
  weeks: { week: string; successors: number; with_brief: number }[];
  suggestions: { kind: string; text: string; successors: number; command: string }[];
  successors: Successor[];
  unread: number;
  has_more: boolean;
}

const sandbox = makeSandbox();
const cache = join(sandbox.store, 'readings', 'debt.json');
// No pattern knows it: it is known by its name, in another line than the one that is shown.
const secret = randomBytes(12).toString('hex');
const idOf = (day: number): string => `5b0c7f0e-4b5e-4f0a-9d57-${String(day).padStart(12, '0')}`;
let captured: string[] = [];

beforeAll(async () => {
  const looks = [
    { ask: 'Go on with the cart' },
    { run: 'cat .env', output: `API_SECRET=${secret}` },
    { read: 'src/cart.ts' },
    { read: 'src/rates.ts' },
    { run: `ship ${secret} --help`, output: 'Usage: ship' },
  ];
  const last = { ask: 'Go on with the till' };
  captured = [];
  for (const day of [1, 2, 3, 4]) {
    // A session that is captured as it grows: its newest handover follows its own.
    if (day === 4) await captureWork(sandbox, { day, steps: looks });
    const { id } = await captureWork(sandbox, { day, steps: [...looks, { edit: `src/till-${day}.ts` }] });
    captured.push(id);
  }
  captured.push((await captureWork(sandbox, { day: 5, steps: [last, { edit: 'src/cart.ts' }] })).id);
  const given = { event: 'delivered' as const, subject: captured[3] ?? '', session: idOf(5) };
  appendEntry(openStore(sandbox.machine), { ...given, reason: 'brief, a new session' });
  const hint = { event: 'delivered' as const, subject: captured[2] ?? '', session: idOf(4) };
  appendEntry(openStore(sandbox.machine), { ...hint, reason: 'hint, a new session' });
});

describe('handover debt', () => {
  it('counts by session what was found out again, and tells those with a brief from the others', async () => {
    const { successors, with_brief, without, unread } = await sandbox.json<Answer>(['debt']);
    expect(successors.map(({ session, follows, given, files }) => [session, follows, given, files])).toEqual([
      [idOf(5), idOf(4), 'brief', 0],
      [idOf(4), idOf(3), 'hint', 2],
      [idOf(3), idOf(2), 'nothing', 2],
      [idOf(2), idOf(1), 'nothing', 2],
    ]);
    expect(with_brief).toMatchObject({ successors: 1, enough: false, with_debt: 0 });
    expect(without).toMatchObject({ successors: 3, enough: false, with_debt: 3 });
    expect(successors.map(({ first_edit }) => first_edit?.calls)).toEqual([0, 4, 4, 4]);
    expect(unread).toBe(0);
  });

  it('says that there are too few, and lists weeks and sessions', async () => {
    const printed = await sandbox.ok(['debt']);
    expect(printed).toContain('too few to tell: fewer than 10 with a brief and without');
    expect(printed).toContain('week of 2026-02-02  4 successors');
    expect(printed).toContain(`after ${idOf(3)}, given a hint`);
  });

  it('names the fact that would spare it once three sessions found out the same', async () => {
    const { suggestions } = await sandbox.json<Answer>(['debt']);
    expect(suggestions.map(({ kind, successors }) => [kind, successors]).sort()).toEqual([
      ['command', 3],
      ['file', 3],
      ['file', 3],
    ]);
    for (const [begin, pinned] of [
      ['src/cart.ts', 'src/cart.ts'],
      ['src/rates.ts', 'src/rates.ts'],
      ['ship ', /ship \[.+\] --help/],
    ] as const) {
      const command = suggestions.find(({ text }) => text.startsWith(begin))?.command ?? '';
      expect(await sandbox.ok(command.split(' ').slice(1))).toMatch(pinned);
    }
  });

  it('opens each number as lines of the transcript, by session and by handover', async () => {
    const { successors } = await sandbox.json<{ successors: Successor[] }>(['debt', idOf(3)]);
    expect(successors).toMatchObject([
      {
        session: idOf(3),
        items: [
          { kind: 'file', text: 'src/cart.ts', before: { in: 'previous' } },
          { kind: 'file' },
          { kind: 'command' },
        ],
      },
    ]);
    const [item] = successors[0]?.items ?? [];
    const open = item?.open.split(' ').slice(1) ?? [];
    expect(await sandbox.ok(open)).toContain('src/cart.ts');
    const named = await sandbox.json<{ successors: Successor[] }>(['debt', captured[2] ?? '']);
    expect(named.successors).toEqual(successors);
    expect(await sandbox.ok(['debt', idOf(3)])).toContain(`first at line ${item?.before.line} of ${idOf(2)}`);
  });

  it('is narrowed by time, agent and number', async () => {
    const sessionsOf = async (...flags: string[]): Promise<string[]> =>
      (await sandbox.json<Answer>(['debt', ...flags])).successors.map(({ session }) => session);
    expect(await sessionsOf('--since', '2026-02-04')).toEqual([idOf(5), idOf(4)]);
    expect(await sessionsOf('--until', '2026-02-02')).toEqual([idOf(2)]);
    expect(await sessionsOf('--agent', 'codex')).toEqual([]);
    expect((await sandbox.json<Answer>(['debt', '--limit', '1'])).has_more).toBe(true);
  });

  it('refuses a session that is not known or follows nothing', async () => {
    const unknown = await sandbox.run(['debt', 'ffffffff-0000']);
    expect([unknown.status, unknown.stdout]).toEqual([66, '']);
    const first = await sandbox.run(['debt', idOf(1)]);
    expect([first.status, first.stderr]).toEqual([66, expect.stringContaining('follows no session')]);
  });

  it('remembers what it measured until a handover is forgotten, and without secrets', async () => {
    const before = await sandbox.ok(['debt', '--json']);
    expect(existsSync(cache)).toBe(true);
    expect(await sandbox.ok(['debt', '--json'])).toBe(before);
    rmSync(cache);
    expect(await sandbox.ok(['debt', '--json'])).toBe(before);
    for (const text of [before, readFileSync(cache, 'utf8'), await sandbox.ok(['debt', idOf(2)])])
      expect(text).not.toContain(secret);
    const spare = makeSandbox();
    const { id } = await captureWork(spare, { day: 1, steps: [{ ask: 'Go on' }, { edit: 'a.ts' }] });
    await captureWork(spare, { day: 2, steps: [{ ask: 'Go on' }, { edit: 'a.ts' }] });
    await spare.ok(['debt']);
    await spare.ok(['forget', id, '--yes']);
    expect(existsSync(join(spare.store, 'readings', 'debt.json'))).toBe(false);
  });

  it('is in the status that agents ask for, in one line', async () => {
    const mcp = await connect(sandbox);
    const { text } = await mcp.call('status');
    expect(text).toContain(
      '# of the last 10 sessions, found something out again: 0 of 1 with a brief (0 calls before the first edit), ' +
        '3 of 3 without (4 calls before the first edit): too few to tell',
    );
  });
});

it('each part after a compaction is a successor of its own, with what it was given', async () => {
  const home = makeSandbox();
  // It begins like the id of a handover.
  const session = '64598694-1a82-4f0a-9d57-0c1f7c2a9e11';
  const t = new Transcript({ cwd: home.project, sessionId: session });
  const read = (call: string): void => {
    t.call(call, 'Read', { file_path: join(home.project, 'a.ts') });
    t.result(call, 'const a = 1;');
  };
  t.human('Go on');
  read('toolu_0');
  for (const part of [1, 2]) {
    t.system('compact_boundary', { content: 'Conversation compacted' });
    t.human(`Summary ${part}`, { isCompactSummary: true });
    read(`toolu_${part}`);
  }
  const timeOf = (row: number): string => new Date(Date.UTC(2026, 0, 31, 9, row * 10)).toISOString();
  for (const [at, row] of t.rows.entries()) row.timestamp = timeOf(at);
  const path = writeText(join(home.home, '.claude/projects/-p', `${session}.jsonl`), t.text);
  const { id } = await home.json<{ id: string }>(['capture', '--transcript', path]);
  const second = t.rows.findLastIndex(({ subtype }) => subtype === 'compact_boundary');
  const entry = { event: 'delivered' as const, subject: id, session, at: timeOf(second) };
  appendEntry(openStore(home.machine), { ...entry, reason: 'brief, after compaction' });
  const { successors } = await home.json<Answer>(['debt']);
  expect(successors.map(({ part, given, files }) => [part, given, files])).toEqual([
    [2, 'brief', 1],
    [1, 'nothing', 1],
  ]);
  expect((await home.json<Answer>(['debt', session])).successors).toHaveLength(2);
});

it('ideas that were rejected or refuted on purpose are counted when a later session plans them', async () => {
  const home = makeSandbox();
  await captureWork(home, { day: 1, steps: [{ ask: 'Go on' }, { edit: 'a.ts' }] });
  await home.save('--rejected', 'Keep carts in Redis', '--decision', 'Poll the bank', '--note', 'Log each call');
  await home.ok(['refute', 'Poll the bank', '--because', 'it blocks us']);
  const t = new Transcript({ cwd: home.project });
  const items = ['keep carts in redis', 'Poll the bank', 'Log each call', 'Something new'];
  t.human('Go on');
  for (const [at, content] of items.entries()) {
    t.call(`toolu_${at}`, 'TodoWrite', { todos: [{ content, status: 'pending', activeForm: content }] });
    t.result(`toolu_${at}`, 'Todos have been modified successfully.', { data: { oldTodos: [], newTodos: [] } });
  }
  const soon = Date.now() + 60_000;
  for (const [at, row] of t.rows.entries()) row.timestamp = new Date(soon + at * 1000).toISOString();
  const path = writeText(join(home.home, '.claude/projects/-p', `${SESSION_ID}.jsonl`), t.text);
  await home.ok(['capture', '--transcript', path]);
  const { successors } = await home.json<{ successors: Successor[] }>(['debt', SESSION_ID]);
  expect(successors[0]?.items?.map(({ kind, text, before }) => [kind, text, before.in])).toEqual([
    ['rejected', 'Keep carts in Redis', 'handover'],
    ['rejected', 'Poll the bank', 'handover'],
  ]);
});

it('each kind is found in sessions of Claude Code, and each number opens as the lines behind it', async () => {
  const home = makeSandbox();
  const [question, rejected, error] = [
    'Which database?',
    'Keep carts in Redis',
    "error: unrecognized subcommand 'bun'",
  ];
  const writeOne = async (day: number, at: Date, isFirst: boolean): Promise<void> => {
    const t = new Transcript({ cwd: home.project, sessionId: idOf(day) });
    const call = (tool: string, input: Json, output: string, more: Json = {}): void => {
      const id = `toolu_${day}_${t.rows.length}`;
      t.call(id, tool, input);
      t.result(id, output, more);
    };
    t.human(isFirst ? 'Store the carts' : 'Go on with the carts');
    call('Read', { file_path: join(home.project, 'src/cart.ts') }, '     1→export const cart = [];');
    call('Bash', { command: 'ship --help' }, 'Usage: ship [TASK]');
    call('Bash', { command: 'rtk bun install' }, `Exit code 1\n${error}`, { isError: true });
    const questions = [
      { question, header: 'Store', multiSelect: false, options: [{ label: 'Postgres' }, { label: 'SQLite' }] },
    ];
    call('AskUserQuestion', { questions }, `User has answered your questions: "${question}"="Postgres".`, {
      data: { questions, answers: { [question]: 'Postgres' } },
    });
    if (!isFirst) {
      const todos = [{ content: rejected, status: 'pending', activeForm: rejected }];
      call('TodoWrite', { todos }, 'Todos have been modified successfully.', {
        data: { oldTodos: [], newTodos: todos },
      });
    }
    if (isFirst) call('Bash', { command: 'rtk bun --version' }, '1.2');
    call('Edit', { file_path: join(home.project, `src/till-${day}.ts`), old_string: 'x', new_string: 'y' }, 'Updated.');
    for (const [index, row] of t.rows.entries()) row.timestamp = new Date(at.getTime() + index * 1000).toISOString();
    const path = writeText(join(home.home, '.claude/projects/-p', `${idOf(day)}.jsonl`), t.text);
    await home.ok(['capture', '--transcript', path]);
  };
  await writeOne(1, new Date('2026-02-01T09:00:00Z'), true);
  await home.save('--rejected', rejected);
  await writeOne(2, new Date(Date.now() + 60_000), false);
  const { successors } = await home.json<{ successors: Successor[] }>(['debt', idOf(2)]);
  const items = successors[0]?.items ?? [];
  expect(items.map(({ kind, text }) => [kind, text]).sort()).toEqual([
    ['command', 'ship --help'],
    ['error', error],
    ['file', 'src/cart.ts'],
    ['question', question],
    ['rejected', rejected],
  ]);
  for (const { text, open } of items) expect(await home.ok(open.split(' ').slice(1))).toContain(text);
});

it('sessions whose transcripts are gone are left out, and so is what followed them', async () => {
  const home = makeSandbox();
  const steps = [{ ask: 'Go on' }, { read: 'a.ts' }, { edit: 'b.ts' }];
  for (const day of [1, 2, 3]) await captureWork(home, { day, steps });
  const forgetTranscript = (day: number): void => rmSync(join(home.home, '.claude/projects/-p', `${idOf(day)}.jsonl`));
  const list = async (): Promise<[string[], number]> => {
    const { successors, unread } = await home.json<Answer>(['debt']);
    return [successors.map(({ session, files }) => `${session.at(-1)} ${files}`), unread];
  };
  expect(await list()).toEqual([['3 1', '2 1'], 0]);
  forgetTranscript(1);
  expect(await list()).toEqual([['3 1'], 1]);
  forgetTranscript(3);
  expect(await list()).toEqual([[], 2]);
});

it('a store without sessions has no debt, and says what to do next', async () => {
  const empty = makeSandbox();
  const { status, stdout, stderr } = await empty.run(['debt']);
  expect([status, stdout]).toEqual([0, 'no captured session here follows another one, or was compacted\n']);
  expect(stderr).toContain('next: ');
});
