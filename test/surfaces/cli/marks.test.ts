import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Handover } from '../../../src/model/handover.ts';
import { SESSION_ID, Transcript } from '../../fixtures/agents/claude-code.ts';
import { makeSandbox, type Sandbox } from '../../support/cli.ts';
import { writeText } from '../../support/transcripts.ts';

const OTHER_ID = '7c1d8e1f-5c6f-4a1b-8e68-1d2a8d3baf22';

/** Captures a session in which these things were said, after each other. */
async function capture(
  sandbox: Sandbox,
  words: readonly string[],
  { id = SESSION_ID, day = 1 } = {},
): Promise<Handover> {
  const t = new Transcript({ cwd: sandbox.project, sessionId: id, timestamp: `2026-02-0${day}T09:00:00.000Z` });
  t.human('Go on with the work on the parser');
  for (const text of words) t.say(text);
  const path = writeText(join(sandbox.home, '.claude/projects/-p', `${id}.jsonl`), t.text);
  return await sandbox.json(['capture', '--transcript', path]);
}

async function idOf(sandbox: Sandbox, text: string): Promise<string> {
  const { facts } = await sandbox.json<Handover>(['show']);
  return facts.find((fact) => fact.text.includes(text))?.id ?? '';
}

const QUEUE = 'We decided to use a queue for the uploads.';

describe('handover resolve', () => {
  it('removes a fact until it is saved again', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('--summary', 'one', '--decision', 'Use a queue');
    const fact = await idOf(sandbox, 'queue');
    await sandbox.ok(['resolve', fact]);
    expect(await sandbox.ok(['render'])).not.toContain('Use a queue');
    await sandbox.save('--summary', 'two', '--decision', 'Use a queue');
    expect(await sandbox.ok(['render'])).toContain('> - decision: Use a queue');
  });
});

describe('handover refute', () => {
  it('turns a fact into a lasting warning with the reason', async () => {
    const sandbox = makeSandbox();
    await capture(sandbox, [QUEUE]);
    const fact = await idOf(sandbox, 'queue');
    await sandbox.ok(['refute', fact, '--because', 'it lost\nmessages']);
    const warning = `## Stated on purpose\n> - tried, did not work: ${QUEUE} ; because: it lost messages`.replace(
      ' ;',
      ';',
    );
    expect(await sandbox.ok(['render'])).toContain(warning);
    const later = await capture(sandbox, ['The lexer is next.'], { id: OTHER_ID, day: 3 });
    expect(later.facts.find(({ id }) => id === fact)).toMatchObject({ status: 'refuted' });
    const stubborn = await capture(sandbox, ['The lexer is next.', QUEUE], { id: OTHER_ID, day: 3 });
    expect(stubborn.facts.find(({ id }) => id === fact)).toMatchObject({ status: 'refuted' });
    for (const args of [['render'], ['resume']]) expect(await sandbox.ok(args)).toContain(warning);
  });
});
