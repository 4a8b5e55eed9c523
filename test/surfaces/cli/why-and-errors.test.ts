import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { Transcript } from '../../fixtures/agents/claude-code.ts';
import { captureWork } from '../../support/captured-work.ts';
import { makeSandbox } from '../../support/cli.ts';
import { writeText } from '../../support/transcripts.ts';

const sandbox = makeSandbox();
const DECISION = 'We decided to let src/parser.ts read a stream.';
const FAILURE = 'Error: listen EADDRINUSE: address already in use :::3000';
let id = '';

beforeAll(async () => {
  const steps = [
    { ask: 'Make the parser work on large files' },
    { say: DECISION },
    { edit: 'src/parser.ts' },
    { run: 'npm test', output: FAILURE, fails: true as const },
    { run: 'npx kill-port 3000' },
    { run: 'npm test', output: 'Tests: 12 passed' },
  ];
  id = (await captureWork(sandbox, { day: 1, steps })).id;
});

describe('handover why', () => {
  it('names the session that changed a file, and what was said of it, as a quote', async () => {
    expect(await sandbox.json(['why', 'src/parser.ts'])).toMatchObject({
      matched: 'exact',
      sessions: [
        {
          handover: id,
          reasons: [
            { kind: 'note', said: true, text: DECISION, about: 'file' },
            { kind: 'goal', text: 'Make the parser work on large files', about: 'request' },
          ],
          more: 0,
        },
      ],
    });
    const { stdout } = await sandbox.run(['why', 'src/parser.ts']);
    expect(stdout).toContain(`  said: ${DECISION}`);
    expect(stdout).toContain('  asked before a change: Make the parser work on large files');
  });

  it('quotes what a heading leads to, without its markup', async () => {
    const other = makeSandbox();
    const say = '## Done\n\n**1. `src/pool.ts`**:\n- it waits for a free connection now.';
    await captureWork(other, { day: 1, steps: [{ ask: 'Mend the pool' }, { edit: 'src/pool.ts' }, { say }] });
    const text = '`src/pool.ts`: it waits for a free connection now.';
    expect(await other.json(['why', 'src/pool.ts'])).toMatchObject({
      sessions: [{ reasons: [{ said: true, text }, { about: 'request' }] }],
    });
  });

  it('says how many other decisions a session has that changed the file', async () => {
    const other = makeSandbox();
    const asks = [1, 2, 3, 4, 5].map((at) => ({
      choose: `Which colour has field ${at}?`,
      answer: `Red of kind ${at}`,
    }));
    const steps = [{ ask: 'Paint the board' }, { edit: 'src/board.ts' }, ...asks];
    const { id: handover } = await captureWork(other, { day: 1, steps });
    const { stdout } = await other.run(['why', 'src/board.ts']);
    expect(stdout.match(/in the same session, decision/g)).toHaveLength(3);
    expect(stdout).toContain(`  and 2 more in handover show ${handover}\n`);
  });

  it('answers for the file where no handover knows the symbol', async () => {
    expect(await sandbox.json(['why', 'src/parser.ts:readStream'])).toMatchObject({
      symbol: 'readStream',
      symbol_found: false,
      sessions: [{ handover: id, touched: [{ path: 'src/parser.ts', change: 'edited' }] }],
    });
    const { stdout } = await sandbox.run(['why', 'src/parser.ts:readStream']);
    expect(stdout).toMatch(/^no handover says what was done to readStream; about the whole file:/);
    expect(stdout).not.toContain('no handover mentions');
  });
});

describe('handover errors', () => {
  it('finds an error that was seen before, and what was run until it was gone', async () => {
    expect(await sandbox.json(['errors', FAILURE.replace('3000', '8080')])).toMatchObject({
      seen: [{ likeness: 'same', handover: id, state: 'closed', remedy: { commands: ['npx kill-port 3000'] } }],
    });
  });

  it('lists what is open in the project, then what failed last, when no text is given', async () => {
    const other = makeSandbox();
    expect((await other.run(['errors'])).stdout).toBe('no captured session failed with an error\n');
    const leak = 'Error: the pool of connections is empty';
    const first = [{ ask: 'Mend the pool' }, { run: 'npm test', output: leak, fails: true as const }];
    // The name of a branch is no cause.
    const mended = [...first, { edit: 'pool.ts' }, { run: 'npm test', output: '3 passed' }];
    await captureWork(other, { day: 1, steps: [...mended, { say: 'Rebased `fix-pool`, which has pool.ts.' }] });
    const types = 'pool.ts(7,3): error TS2345: Argument of type string is not assignable.';
    const steps = [{ ask: 'Check the types' }, { run: 'npx tsc --noEmit', output: types, fails: true as const }];
    await captureWork(other, { day: 2, steps });
    expect(await other.json(['errors'])).toMatchObject({
      lines: [],
      seen: [
        { text: types, state: 'open', command: 'tsc' },
        { text: leak, state: 'closed', command: 'npm test', remedy: { files: [{ path: 'pool.ts' }], said: [] } },
      ],
      has_more: false,
    });
    const { stdout, stderr } = await other.run(['errors', '--limit', '1']);
    expect(stdout).toContain(types);
    expect(stdout).not.toContain(leak);
    expect(stderr).toContain('handover errors --limit 0');
  });

  it('finds an error by any of its words, in any order and case', async () => {
    for (const words of ['eaddrinuse', 'IN USE address', 'listen 3000', '3000'])
      expect([words, await sandbox.json(['errors', words])]).toMatchObject([words, { seen: [{ text: FAILURE }] }]);
    expect(await sandbox.json(['errors', 'address unknown'])).toMatchObject({ seen: [] });
  });

  it('says in whole commands what to type next', async () => {
    const words = "Error: the ship's log is lost";
    const { stderr } = await sandbox.run(['errors', words]);
    const quoted = "'Error: the ship'\\''s log is lost'";
    expect(stderr).toContain('next: List handovers: handover list\n');
    expect(stderr).toContain(`handover search --sessions ${quoted}`);
    expect((await sandbox.run(['errors'])).stderr).toContain(`handover errors '${FAILURE}'`);
    const nothing = await sandbox.run(['search', 'mulberry jam', '--kind', 'note,error']);
    expect(nothing.stderr).toContain("handover search 'mulberry jam' --kind note --kind error --sessions");
    const more = await sandbox.run(['search', 'parser', '--limit', '1']);
    expect(more.stderr).toMatch(/show them: handover search parser --limit \d+\n/);
  });

  it('finds what a call of a tool failed with', async () => {
    const other = makeSandbox();
    const t = new Transcript({ cwd: other.project });
    t.human('Rework the cart');
    t.call('toolu_1', 'Edit', { file_path: join(other.project, 'cart.ts'), old_string: 'a', new_string: 'b' });
    const message = 'String to replace not found in file.';
    t.result('toolu_1', `<tool_use_error>${message}\nString: a</tool_use_error>`, { isError: true });
    t.say('I will read it first.');
    await other.ok(['capture', '--transcript', writeText(join(other.home, '.claude/projects/-p/s.jsonl'), t.text)]);
    expect(await other.json(['errors', 'string not found'])).toMatchObject({
      seen: [{ text: message, command: 'Edit', state: 'unknown', likeness: 'part' }],
    });
  });

  it('names no remedy where the same command did not pass, or nothing was changed before it did', async () => {
    const other = makeSandbox();
    const failure = 'Error: the lock file is held by another process';
    const broken = "src/cart.ts(7,3): error TS2345: Argument of type 'string' is not assignable.";
    await captureWork(other, {
      day: 4,
      steps: [
        { ask: 'Make all checks pass' },
        { run: 'npm run lint', output: failure, fails: true },
        { run: 'npm run lint', output: 'ok' },
        { run: 'npx tsc --noEmit', output: broken, fails: true },
        { edit: 'src/cart.ts' },
        { edit: 'docs/notes.md' },
        { run: 'git status', output: 'On branch main' },
        { say: 'Fixed the notes, because they were old.' },
        { run: 'npx tsc --noEmit', output: 'Found 0 errors.' },
        { say: 'The problem was the type in src/cart.ts.' },
      ],
    });
    expect(await other.json(['errors', failure])).toMatchObject({ seen: [{ state: 'closed', remedy: null }] });
    expect(await other.ok(['errors', failure])).not.toContain('then ');
    expect(await other.json(['errors', broken])).toMatchObject({
      seen: [
        {
          remedy: {
            succeeded: 'npx tsc --noEmit',
            files: [{ path: 'src/cart.ts', change: 'edited' }],
            commands: [],
            said: ['The problem was the type in src/cart.ts.'],
          },
        },
      ],
    });
  });
});
