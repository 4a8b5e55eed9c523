import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { makeSandbox } from '../support/cli.ts';
import { listFiles } from '../support/tree.ts';

/* Weaknesses of agent-handoff, one test each. */

describe('agent-handoff', () => {
  it('AF-4: files that could be pushed have no secret, whoever wrote it', async () => {
    const sandbox = makeSandbox();
    const token = ['xoxb', '12345678901', '123456789012', 'a1B2c3D4e5F6g7H8i9J0k1L2'].join('-');
    await sandbox.save(
      '--summary',
      `Post with ${token}`,
      '--next',
      'DB_PASSWORD=tr0ub4dor9x npm start',
      '--note',
      'tr0ub4dor9x',
    );
    for (const args of [['render'], ['show'], ['show', '--json'], ['list', '--json']]) {
      const out = await sandbox.ok(args);
      expect([out.includes(token), out.includes('tr0ub4dor9x')], args.join(' ')).toEqual([false, false]);
    }
    for (const file of listFiles(sandbox.store)) {
      const bytes = readFileSync(file);
      expect([bytes.includes(token), bytes.includes('tr0ub4dor9x')], file).toEqual([false, false]);
    }
    expect(await sandbox.json(['show'])).toMatchObject({
      redactions: [
        { kind: 'assigned-secret', count: 1 },
        { kind: 'slack-token', count: 1 },
      ],
    });
  });
});
