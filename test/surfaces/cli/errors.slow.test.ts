import { beforeAll, describe, expect, it } from 'vitest';
import { captureWork } from '../../support/captured-work.ts';
import { makeSandbox, makeTempFolder } from '../../support/cli.ts';

interface Answer {
  lines: string[];
  seen: {
    likeness: string;
    text: string;
    handover: string;
    command: string;
    state: string;
    because: string | null;
    open: string;
    fact: string;
    remedy: null | {
      handover: string;
      in_later_session: boolean;
      succeeded: string | null;
      files: { path: string; change: string }[];
      commands: string[];
      said: string[];
    };
  }[];
  has_more: boolean;
}

const sandbox = makeSandbox();
const ids: string[] = [];

const BUSY = 'Error: listen EADDRINUSE: address already in use :::3000';
const TYPES = "src/cart.ts:41:7 - error TS2345: Argument of type 'string' is not assignable to type 'Money'.";
const LOST = "TypeError: Cannot read properties of undefined (reading 'total')";

beforeAll(async () => {
  const closed = await captureWork(sandbox, {
    day: 1,
    steps: [
      { ask: 'Make the server start in tests' },
      { edit: 'src/other.ts' },
      { run: 'npm test', output: BUSY, fails: true },
      { say: 'The root cause was a server that the first test of server.test.ts left listening.' },
      { edit: 'test/server.test.ts' },
      { run: 'npm install get-port', output: 'added 1 package' },
      { run: 'npx list-ports', output: '3000' },
      { run: 'npm test', output: 'Tests: 12 passed' },
      { edit: 'src/after.ts' },
    ],
  });
  const open = await captureWork(sandbox, {
    day: 2,
    steps: [
      { ask: 'Add money to the cart' },
      { run: 'npx tsc --noEmit', output: TYPES, fails: true },
      { run: 'npm run smoke', output: LOST, fails: true },
    ],
  });
  const later = await captureWork(sandbox, {
    day: 3,
    steps: [
      { ask: 'Go on with the cart' },
      { edit: 'src/cart.ts' },
      { run: 'npx tsc --noEmit', output: 'Found 0 errors.' },
    ],
  });
  ids.push(closed.id, open.id, later.id);
});

async function ask(text: string, ...more: string[]): Promise<Answer> {
  const indexed = await sandbox.json<Answer>(['errors', text, ...more]);
  const env = { HANDOVER_SQLITE: 'none' };
  expect(await sandbox.json<Answer>(['errors', text, ...more], { env })).toEqual(indexed);
  return indexed;
}

describe('handover errors', () => {
  it('shows what fixed an error in the same session', async () => {
    const { seen } = await ask('Error: listen EADDRINUSE: address already in use :::8080');
    expect(seen).toMatchObject([
      { likeness: 'same', text: BUSY, handover: ids[0], command: 'npm test', state: 'closed' },
    ]);
    expect(seen[0]?.remedy).toEqual({
      handover: ids[0],
      in_later_session: false,
      succeeded: 'npm test',
      files: [{ path: 'test/server.test.ts', change: 'edited' }],
      commands: ['npm install get-port'],
      said: ['The root cause was a server that the first test of server.test.ts left listening.'],
    });
  });

  it('recognises an error in a stack trace from another machine on standard input', async () => {
    const trace = `
node:events:485
      throw er; // Unhandled 'error' event
      ^

Error: listen EADDRINUSE: address already in use 0.0.0.0:41234
    at Server.setupListenHandle [as _listen2] (node:net:1940:16)
    at Object.<anonymous> (/Users/bo/elsewhere/src/server.ts:9:5)
Emitted 'error' event on Server instance at:
    at emitErrorNT (node:net:1919:8) {
  code: 'EADDRINUSE', syscall: 'listen'
}`;
    const { seen } = await sandbox.json<Answer>(['errors', '-'], { input: trace });
    expect(seen.map(({ handover }) => handover)).toEqual([ids[0]]);
  });

  it('finds the later session in which the same command succeeded', async () => {
    const { seen } = await ask(
      "/home/bo/shop/src/cart.ts(7,3): error TS2345: Argument of type 'string' is not assignable to type 'Money'.",
    );
    expect(seen).toMatchObject([{ likeness: 'same', handover: ids[1], state: 'closed' }]);
    expect(seen[0]?.remedy).toMatchObject({
      handover: ids[2],
      in_later_session: true,
      files: [{ path: 'src/cart.ts', change: 'edited' }],
    });
    const text = await sandbox.ok(['errors', TYPES]);
    expect(text).toContain(`succeeded in ${ids[2]}, after:\n  - edited src/cart.ts\n`);
  });

  it('labels the same error in another file, and a similar error', async () => {
    const other = "lib/order.ts:1:1 - error TS2345: Argument of type 'string' is not assignable to type 'Money'.";
    expect((await ask(other)).seen).toMatchObject([{ likeness: 'alike' }]);
    const near = "TypeError: Cannot read properties of null (reading 'total')";
    expect((await ask(near)).seen).toMatchObject([{ likeness: 'near', text: LOST }]);
  });

  it('says of which errors nothing is known since, and which were marked as resolved', async () => {
    const { seen } = await ask(LOST);
    expect(seen).toMatchObject([{ state: 'unknown', remedy: null }]);
    expect(await sandbox.ok(['errors', LOST])).toContain('not seen to pass since');
    await sandbox.ok(['resolve', seen[0]?.fact ?? '', '--because', 'the smoke test is gone']);
    expect((await ask(LOST)).seen).toMatchObject([{ state: 'closed', because: 'the smoke test is gone' }]);
  });

  it('says what it searched for, and what to type next, when the error is new', async () => {
    const { stdout, stderr } = await sandbox.run(['errors', 'fatal: not a git repository at all']);
    expect(stdout).toBe('no error that was captured is like this\n  looked for: fatal: not a git repository at all\n');
    expect(stderr).toContain('next: List handovers: handover list\n');
    expect(stderr).toContain("handover search --sessions 'fatal: not a git repository at all'");
    expect((await sandbox.run(['errors', ''])).status).toBe(64);
    expect((await sandbox.run(['errors', '-'], { input: ' \n' })).status).toBe(64);
  });

  it('searches this project, unless --all is passed', async () => {
    const cwd = makeTempFolder();
    expect((await sandbox.json<Answer>(['errors', BUSY], { cwd })).seen).toEqual([]);
    expect((await sandbox.json<Answer>(['errors', BUSY, '--all'], { cwd })).seen).toHaveLength(1);
    expect((await ask(BUSY, '--agent', 'codex')).seen).toEqual([]);
  });

  it('accepts text that is no error, and very long text', async () => {
    for (const input of [
      '%',
      '"',
      "it's (not) a [pattern* OR NEAR(x",
      '\u0000\u001b[31m',
      'x'.repeat(300_000),
      'é '.repeat(50_000),
    ])
      expect((await sandbox.run(['errors', '-', '--json'], { input })).status, input.slice(0, 20)).toBeLessThan(66);
    const { status } = await sandbox.run(['errors', '-'], { input: 'x'.repeat(5_000_000) });
    expect(status).toBe(65);
  });
});
