import { beforeAll, describe, expect, it } from 'vitest';
import { captureWork } from '../../support/captured-work.ts';
import { makeSandbox } from '../../support/cli.ts';

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
      sessions: [{ handover: id, reasons: [{ kind: 'note', said: true, text: DECISION, about: 'file' }] }],
    });
    const { stdout } = await sandbox.run(['why', 'src/parser.ts']);
    expect(stdout).toContain(`  said: ${DECISION}`);
  });
});

describe('handover errors', () => {
  it('finds an error that was seen before, and what was run until it was gone', async () => {
    expect(await sandbox.json(['errors', FAILURE.replace('3000', '8080')])).toMatchObject({
      seen: [{ likeness: 'same', handover: id, state: 'closed', remedy: { commands: ['npx kill-port 3000'] } }],
    });
  });
});
