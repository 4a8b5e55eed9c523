import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { QUESTIONS } from '../../../src/surfaces/cli/help-texts.ts';
import { makeSandbox, runGit } from '../../support/cli.ts';
import { writeSession } from '../../support/hooks.ts';

const sandbox = makeSandbox();
const file = 'src/checkout.ts';

/** A session that nobody has captured, as a newcomer has them. */
beforeAll(() => {
  runGit(sandbox.project, 'init', '--quiet');
  mkdirSync(join(sandbox.project, 'src'));
  const session = writeSession(sandbox);
  const { transcript } = session;
  transcript.human(`Never retry a 500 in ${file}: that charged customers twice.`);
  const content = 'export const retried = [502, 503];\n';
  writeFileSync(join(sandbox.project, file), content);
  transcript.call('toolu_1', 'Write', { file_path: join(sandbox.project, file), content });
  const data = { type: 'create', filePath: join(sandbox.project, file), content, structuredPatch: [] };
  transcript.result('toolu_1', 'File created successfully', { data });
  transcript.say('Only 502 and 503 are retried now.');
  // Yesterday.
  const started = Date.now() - 26 * 3_600_000;
  for (const [at, row] of transcript.rows.entries()) row.timestamp = new Date(started + at * 1000).toISOString();
  session.write();
  runGit(sandbox.project, 'add', '.');
  runGit(sandbox.project, 'commit', '--quiet', '--message', 'Retry less');
});

/** What stands for a person's words, and what the answer must say. In the order of the help. */
const ANSWERS: Readonly<Record<string, { words: readonly string[]; says: string }>> = {
  init: { words: ['--yes'], says: 'added hooks for Claude Code' },
  resume: { words: [], says: 'that charged customers twice' },
  to: { words: ['--print'], says: 'that charged customers twice' },
  timeline: { words: [], says: 'that charged customers twice' },
  why: { words: [file], says: 'that charged customers twice' },
  search: { words: ['charged', 'customers'], says: `Never retry a 500 in ${file}` },
  save: { words: ['Ask Ben about the limit'], says: 'saved handover' },
  export: { words: ['work.bundle'], says: 'work.bundle' },
  doctor: { words: [], says: 'handovers intact' },
  forget: { words: ['--yes'], says: 'forgot handover' },
};

describe('a newcomer', () => {
  it('gets an answer to each of the ten questions by the one command that help shows', async () => {
    const help = await sandbox.ok(['help']);
    expect(QUESTIONS.map(([, , name]) => name).sort()).toEqual(Object.keys(ANSWERS).sort());
    for (const [question, line, name] of QUESTIONS) {
      expect(help).toContain(line);
      const { words = [], says = '' } = ANSWERS[name] ?? {};
      const typed = line
        .split(' ')
        .slice(1)
        .filter((word) => !/^[A-Z]+$/.test(word));
      const { status, stdout, stderr } = await sandbox.run([...typed, ...words]);
      expect([question, status, stderr]).toEqual([question, 0, expect.anything()]);
      expect([question, stdout + stderr]).toEqual([question, expect.stringContaining(says)]);
    }
    expect(await sandbox.json(['list'])).toEqual([]);
  });
});
