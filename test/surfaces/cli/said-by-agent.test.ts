import { beforeAll, describe, expect, it } from 'vitest';
import { sealHandover } from '../../../src/handover/seal.ts';
import { describePlace } from '../../../src/platform/project.ts';
import { saveHandover } from '../../../src/store/handovers.ts';
import { openStore } from '../../../src/store/store.ts';
import { captureWork } from '../../support/captured-work.ts';
import { makeSandbox } from '../../support/cli.ts';
import { HUMAN, makeDraft, makeFact, OBSERVED } from '../../support/facts.ts';

const sandbox = makeSandbox();
const GUESS = 'We decided to let src/parser.ts read a stream.';
const NEXT = 'Next I will tune src/parser.ts.';
const ANSWER = 'Which buffer in src/parser.ts? → a ring';
let id = '';

beforeAll(async () => {
  const { project, workspace } = describePlace('.', sandbox.machine);
  const facts = [
    makeFact('goal', 'Speed up the parser', { ...HUMAN, detail: { role: 'current', message: 1 } }),
    makeFact('file', 'src/parser.ts', { ...OBSERVED, status: 'edited' }),
    makeFact('decision', GUESS),
    makeFact('next', NEXT),
    makeFact('rejected', 'A worker in src/parser.ts is too slow.'),
    makeFact('decision', ANSWER, { ...HUMAN, detail: { role: 'answer' } }),
    makeFact('task', 'Measure it', { ...OBSERVED, status: 'pending' }),
    makeFact('error', 'Error: out of memory', { ...OBSERVED, status: 'unknown', detail: { command: 'node parse.js' } }),
  ];
  const draft = makeDraft(facts, { project, workspace });
  id = saveHandover(openStore(sandbox.machine), (stamp) => sealHandover({ ...draft, ...stamp })).handover.id;
});

describe('what an agent only said, in a handover of an earlier version', () => {
  it('is a quote in answers to why, beside what was settled', async () => {
    const { stdout } = await sandbox.run(['why', 'src/parser.ts']);
    expect(stdout).toContain(`  said: ${GUESS}`);
    expect(stdout).toContain(`  decision: ${ANSWER}`);
  });

  it('is no decision of the timeline, and no next step of the list', async () => {
    const { days } = await sandbox.json<{ days: { sessions: { decisions: { text: string }[] }[] }[] }>(['timeline']);
    expect(days[0]?.sessions[0]?.decisions.map(({ text }) => text)).toEqual([ANSWER]);
    expect(await sandbox.json(['list'])).toMatchObject([{ id, next: [] }]);
  });

  it('is shown apart, and found as said', async () => {
    const shown = await sandbox.ok(['show', id]);
    expect(shown.slice(shown.indexOf('\nsaid by the agent\n'))).toContain(GUESS);
    expect(shown.slice(0, shown.indexOf('\nsaid by the agent\n'))).not.toContain(GUESS);
    for (const env of [{}, { HANDOVER_SQLITE: 'none' }]) {
      const found = await sandbox.ok(['search', 'parser', 'stream', '--kind', 'decision'], { env });
      expect(found).toContain('said  We decided');
    }
    expect(await sandbox.ok(['search', 'which buffer'])).toContain('decision  Which buffer');
  });

  it('is left out of HANDOFF.md, which has what was settled and what is open', async () => {
    const text = await sandbox.ok(['snapshot', '--stdout']);
    expect(text).toContain(`## Decisions\n- ${ANSWER}\n`);
    expect(text).toContain('## What’s Next\n- Measure it\n');
    for (const absent of [GUESS, NEXT, '## Rejected', '## Blockers']) expect(text).not.toContain(absent);
  });

  it('is left out of an envelope of handoff V2', async () => {
    const text = await sandbox.ok(['export', '--id', id, '--format', 'v2']);
    expect(text).toContain('a ring');
    expect(text).not.toContain('read a stream');
  });
});

describe('an error that nobody saw pass or fail again', () => {
  it('is not called open', async () => {
    expect(await sandbox.ok(['errors', 'Error: out of memory'])).toContain(
      'not seen to pass since, from node parse.js',
    );
  });
});

describe('how far a session was', () => {
  it('is not found, not compared and not listed among the notes', async () => {
    const other = makeSandbox();
    const steps = [{ ask: 'Mend the lexer' }, { edit: 'src/lexer.ts' }, { run: 'git status', output: 'quokka' }];
    await captureWork(other, { day: 1, steps });
    const again = await captureWork(other, { day: 1, steps: [...steps, { edit: 'src/lexer.ts' }, { say: 'Mended.' }] });
    expect(again.facts.map(({ detail }) => detail?.role)).toEqual(expect.arrayContaining(['state', 'log', 'work']));
    for (const env of [{}, { HANDOVER_SQLITE: 'none' }])
      expect(await other.json(['search', 'quokka', '--kind', 'note'], { env })).toMatchObject({ hits: [] });
    const diff = await other.json<Record<string, { kind: string; text: string }[]>>(['diff']);
    const notes = Object.values(diff)
      .filter(Array.isArray)
      .flat()
      .filter(({ kind }) => kind === 'note');
    expect(notes).toMatchObject([{ text: 'Mended.' }]);
    const shown = await other.ok(['show']);
    expect(shown).toContain('\nThe agent spoke last.');
    expect(shown).not.toContain('Tool: ');
  });
});
