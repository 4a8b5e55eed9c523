import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Agent, startReadStats } from '../../src/agents/agent.ts';
import { loadAgent } from '../../src/agents/table.ts';
import { captureSession } from '../../src/app/capture/capture.ts';
import { compileBrief } from '../../src/handover/brief/compile.ts';
import { findReader } from '../../src/handover/brief/reader.ts';
import { formatHandover, openHandover, sealHandover } from '../../src/handover/seal.ts';
import { Transcript } from '../fixtures/agents/claude-code.ts';
import { call, event, message, meta, number, output, paginatedStory, THREAD } from '../fixtures/agents/codex.ts';
import { STORIES, type Story } from '../fixtures/agents/stories.ts';
import { makeSandbox, type RunResult, type Sandbox } from '../support/cli.ts';
import { makeFolder, makeMachine } from '../support/temp-store.ts';
import { toJsonLines, writeText } from '../support/transcripts.ts';

/* Abnormal transcripts, from capture to brief. The readers have tests of their own. */

const BOTH = STORIES.filter(({ agent }) => agent === 'claude-code' || agent === 'codex');

const layOut = (sandbox: Sandbox, story: Story, content: string | Buffer): string =>
  writeText(join(sandbox.home, story.place), content);

function capture(sandbox: Sandbox, path: string, ...args: string[]): Promise<RunResult> {
  return sandbox.run(['capture', '--transcript', path, '--print', 'none', ...args], { timeoutMs: 30_000 });
}

/** All that `capture` does, in this process. Returns the length of the brief; null when the file is none of the agent's. */
function captureHere(agent: Agent, path: string): number | null {
  const session = agent.inspectFile(path);
  if (session === null) return null;
  // Without a PATH no git is asked, which would take most of the time.
  const { draft } = captureSession(agent, session, makeMachine(makeFolder(), { env: {} }));
  const stamp = { id: '20260131-120000-aaaa', created_at: '2026-01-31T12:00:00.000Z' };
  const handover = sealHandover({ ...draft, ...stamp });
  openHandover(Buffer.from(formatHandover(handover)), stamp.id, 'it');
  const reader = findReader('generic');
  if (reader === null) throw new Error('there is no reader');
  return compileBrief(handover, reader, { budget: 2000 }).text.length;
}

describe('a truncated transcript', () => {
  it.each(STORIES)('anywhere: of $agent, gives a handover that can be sealed', async (story) => {
    const agent = await loadAgent(story.agent);
    const content = Buffer.from(story.text);
    const path = layOut(makeSandbox(), story, content);
    expect(captureHere(agent, path)).toBeGreaterThan(500);
    const cuts = BOTH.includes(story) ? 300 : 60;
    for (let left = cuts; left >= 0; left--) {
      truncateSync(path, Math.floor((content.length * left) / cuts));
      expect(captureHere(agent, path) ?? 0).toBeLessThanOrEqual(8000);
    }
  });

  it.each(BOTH)('within its last row: of $agent, is captured without a warning', async (story) => {
    const sandbox = makeSandbox();
    const path = layOut(sandbox, story, story.text.slice(0, -20));
    expect(await capture(sandbox, path)).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/^saved handover \S+\n$/),
    });
  });

  it.each(BOTH)('at its first byte: of $agent, is refused', async (story) => {
    const sandbox = makeSandbox();
    expect((await capture(sandbox, layOut(sandbox, story, ''))).status).toBe(65);
    expect((await capture(sandbox, layOut(sandbox, story, '{'))).status).toBe(65);
  });
});

describe('rows that are invalid', () => {
  it.each(BOTH)('in a transcript of $agent are skipped and counted', async (story) => {
    const sandbox = makeSandbox();
    const [first = '', ...rows] = story.text.trim().split('\n');
    const odd = [
      'not json',
      '[1,2,3]',
      '"text"',
      '{"type":"__proto__","isSidechain":false}',
      '{"type":"constructor"}',
      '{"type":"\\u001b[2Jmood\\ud800"}',
      '\u0000\u0000\u0000',
    ];
    const mixed = rows.flatMap((row, index) => (odd[index] === undefined ? [row] : [odd[index], row]));
    const path = layOut(sandbox, story, `${[first, ...mixed].join('\r\n')}\r\n`);
    const { status, stderr } = await capture(sandbox, path);
    expect(status).toBe(0);
    expect(stderr).toContain('__proto__ (1)');
    expect(stderr).toContain('constructor (1)');
    expect(stderr).toMatch(/mood\S? \(1\)/);
    expect(stderr).toContain('unreadable: 4');
    expect(stderr).toContain(`7 of ${rows.length + 8} rows`);
    expect(stderr).not.toContain('\u001b');
    const [row] = await sandbox.json<{ title: string }[]>(['list']);
    expect(row?.title).toBe('Make the upload retry when the server is busy');
  });

  it('of thousands of unknown kinds are counted up to a limit, and named up to a smaller one', async () => {
    const sandbox = makeSandbox();
    const [story] = BOTH;
    if (story === undefined) throw new Error('there is no story');
    const many = Array.from({ length: 5000 }, (_, at) => `{"type":"kind-${at}"}\n`).join('');
    const { status, stderr } = await capture(sandbox, layOut(sandbox, story, `${story.text}${many}`));
    expect(status).toBe(0);
    expect(stderr).toMatch(/other \(4900\), kind-0 \(1\).*, 93 more/);
    expect(stderr.length).toBeLessThan(1000);
  });

  it.each(BOTH)('nested 200,000 deep: of $agent, are skipped', async (story) => {
    const sandbox = makeSandbox();
    const deep = `${'{"a":['.repeat(100_000)}1${']}'.repeat(100_000)}`;
    const rows =
      story.agent === 'codex'
        ? toJsonLines([call('deep', 'exec_command', { cmd: 'DEEP' }), event('DEEP')])
        : `{"type":"assistant","isSidechain":false,"sessionId":"s","uuid":"d","message":{"content":[{"type":"tool_use","id":"x","name":"Other","input":{"v":"DEEP"}}]}}\n`;
    const path = layOut(sandbox, story, `${story.text}${rows.replaceAll('"DEEP"', deep)}`);
    expect((await capture(sandbox, path)).status).toBe(0);
  });
});

describe('a row of 10 MB', () => {
  const words = 'The upload is slow. '.repeat(530_000);

  it.each(BOTH)('of $agent is read, and one of 80 MB is skipped and counted', async (story) => {
    const sandbox = makeSandbox();
    const long = story.agent === 'codex' ? toJsonLines([event('agent_message', { message: words })]) : sayLong(words);
    expect(long.length).toBeGreaterThan(10 * 1024 * 1024);
    const path = layOut(sandbox, story, `${story.text}${long}`);
    const file = openSync(path, 'a');
    writeSync(file, '{"type":"user","x":"');
    const block = 'y'.repeat(8 * 1024 * 1024);
    for (let at = 0; at < 10; at++) writeSync(file, block);
    writeSync(file, '"}\n');
    closeSync(file);
    const { status, stderr } = await capture(sandbox, path);
    expect(status).toBe(0);
    expect(stderr).toContain('unreadable: 1');
    expect((await sandbox.json<{ handovers: number; intact: number }>(['doctor'])).intact).toBe(1);
  });

  function sayLong(text: string): string {
    const t = new Transcript();
    t.say(text);
    return t.text.replace('00000000-0000-4000-8000-000000000001', 'long');
  }
});

describe('lone surrogates', () => {
  it('everywhere in a transcript of Claude Code are removed', async () => {
    const t = new Transcript({ cwd: '/home/ann/\ud800shop', gitBranch: 'fix/\udc00' });
    t.human('Rename the file \ud83d to something');
    t.call('a\ud800', 'Write', {
      file_path: '/home/ann/\ud800shop/\udfff.ts',
      content: 'const a\ud800 = 1;',
    });
    t.result('a\ud800', 'ok \ud800');
    t.call('b', 'Bash', { command: 'echo \ud800 && make test' });
    t.result('b', 'error: \udc00 failed badly', { isError: true });
    t.call('c', 'TodoWrite', { todos: [{ content: 'Mend \ud800', status: 'pending', activeForm: 'x' }] });
    await expectWellFormed(BOTH[0], t.text);
  });

  it('everywhere in a rollout of Codex are removed', async () => {
    const rows = [
      meta({ cwd: '/home/ann/\ud800shop' }),
      event('user_message', { message: 'Rename the file \ud83d to something' }),
      call('a\ud800', 'exec_command', { cmd: 'make \ud800 test' }),
      output('a\ud800', 'Process exited with code 1\nOutput:\nerror: \udc00 failed badly'),
      call('p', 'update_plan', { plan: [{ step: 'Mend \ud800', status: 'pending' }] }),
      message('assistant', 'We decided to use \udfff instead of the other one.'),
    ];
    await expectWellFormed(BOTH[1], toJsonLines(rows));
  });

  async function expectWellFormed(story: Story | undefined, text: string): Promise<void> {
    if (story === undefined) throw new Error('there is no story');
    const sandbox = makeSandbox();
    expect(text).toMatch(/\\ud[89a-f]/);
    const { status } = await capture(sandbox, layOut(sandbox, story, text));
    expect(status).toBe(0);
    const record = await sandbox.ok(['show', '--json']);
    expect(JSON.stringify(JSON.parse(record))).not.toMatch(/\\ud[89a-f][0-9a-f]{2}/i);
    expect(record).toContain('\ufffd');
    for (const args of [
      ['render', '--all-projects'],
      ['show', '--events'],
      ['show', '--events', '--json'],
    ])
      expect((await sandbox.ok(args)).isWellFormed()).toBe(true);
  }
});

describe('parents of rows', () => {
  const rowsOf = (t: Transcript, parents: (string | null)[]): string =>
    toJsonLines(t.rows.map((row, index) => ({ ...row, parentUuid: parents[index] ?? null })));

  it('that are missing, cyclic or the row itself do not stop the reading', async () => {
    const sandbox = makeSandbox();
    const [story] = BOTH;
    if (story === undefined) throw new Error('there is no story');
    const t = new Transcript();
    const ids = ['one', 'two', 'three', 'four'].map((word) => t.human(`Say ${word} and go on with the work`));
    t.say('All four of them were said.');
    const [a = '', b = '', c = '', d = ''] = ids;
    const cycles = [
      [b, a, d, c, a],
      [a, a, a, a, a],
      ['gone', 'gone', 'gone too', null, 'nowhere'],
      [d, a, b, c, 'gone'],
    ];
    for (const parents of cycles) {
      const { status, stderr } = await capture(sandbox, layOut(sandbox, story, rowsOf(t, parents)));
      expect([status, stderr]).toEqual([0, expect.stringMatching(/^saved handover \S+\n$/)]);
      const { title } = await sandbox.json<{ title: string }>(['show', 'latest']);
      expect(title).toBe('Say one and go on with the work');
    }
  });

  it('of rollouts that continue each other are followed once, and a missing one is counted', async () => {
    const sandbox = makeSandbox();
    const other = '01a1dd0d-0a21-7122-8074-002f98a99098';
    const place = (id: string): string =>
      join(sandbox.home, `.codex/sessions/2026/01/31/rollout-2026-01-31T12-00-00-${id}.jsonl`);
    const continuing = (id: string, base: string): string => {
      const [, ...rows] = paginatedStory();
      const head = meta({ id, history_base: { thread_id: base, end_ordinal_exclusive: 5 } });
      return toJsonLines(number([head, ...rows], 0));
    };
    writeText(place(THREAD), continuing(THREAD, other));
    writeText(place(other), continuing(other, THREAD));
    const { status, stderr } = await capture(sandbox, place(THREAD));
    expect([status, stderr]).toEqual([0, expect.stringContaining('history_base (1)')]);
    writeText(place(THREAD), continuing(THREAD, 'ffffffff-0a21-7122-8074-002f98a99098'));
    expect((await capture(sandbox, place(THREAD))).stderr).toContain('history_base (1)');
  });
});

describe('a transcript path that is no regular file', () => {
  it('is refused without blocking', async () => {
    const sandbox = makeSandbox();
    const folder = join(sandbox.home, 'folder.jsonl');
    mkdirSync(folder);
    expect((await capture(sandbox, folder)).status).toBe(65);
    const pipe = join(sandbox.home, 'pipe.jsonl');
    execFileSync('mkfifo', [pipe]);
    expect((await capture(sandbox, pipe)).status).toBe(65);
    const noise = writeText(
      join(sandbox.home, 'noise.jsonl'),
      Buffer.from(Array.from({ length: 9999 }, (_, at) => (at * 7919) % 256)),
    );
    expect((await capture(sandbox, noise)).status).toBe(65);
    const wide = writeText(join(sandbox.home, 'wide.jsonl'), Buffer.from(STORIES[0]?.text ?? '', 'utf16le'));
    expect((await capture(sandbox, wide)).status).toBe(65);
  });

  it('counts as empty, not as an error, for an incremental reader', async () => {
    const agent = await loadAgent('codex');
    const path = writeText(join(makeSandbox().home, 'x.jsonl'), '\n\n\r\n \t\n');
    const session = {
      agent: 'codex',
      id: 'x',
      path,
      cwd: null,
      title: null,
      startedMs: null,
      changedMs: 0,
      bytes: 0,
      parent: null,
    } as const;
    const reading = startReadStats();
    expect([...agent.readEvents(session, reading)]).toEqual([]);
    expect(reading).toMatchObject({ rows: 0, unreadable: 0 });
  });
});
