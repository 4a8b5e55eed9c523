import { describe, expect, it } from 'vitest';
import { captureWork } from '../../support/captured-work.ts';
import { makeSandbox } from '../../support/cli.ts';
import { capture, idOf, OTHER_ID, QUEUE } from '../../support/marks.ts';

describe('a pin', () => {
  it('that is set on a refuted fact or removed from it leaves the warning', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('--summary', 'one', '--decision', 'Use sqlite');
    await sandbox.ok(['pin', 'Use sqlite']);
    await sandbox.ok(['refute', 'Use sqlite', '--because', 'too slow']);
    const standing = async (): Promise<unknown> => {
      const { hits } = await sandbox.json<{ hits: { standing: string }[] }>(['search', 'sqlite', '--kind', 'decision']);
      return hits[0]?.standing;
    };
    for (const mark of ['unpin', 'pin', 'unpin']) {
      await sandbox.ok([mark, 'Use sqlite']);
      const brief = await sandbox.ok(['render']);
      expect(brief, mark).toContain('> - tried, did not work: Use sqlite; because: too slow');
      expect(brief.includes('## Pinned'), mark).toBe(mark === 'pin');
      expect(await standing()).toBe('refuted');
    }
    expect(await sandbox.ok(['refute', 'Use sqlite', '--because', 'too slow'])).toContain('already refuted');
  });

  it('does not open what is resolved', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('--summary', 'one', '--next', 'buy milk');
    await sandbox.ok(['resolve', 'milk']);
    const { status, stderr } = await sandbox.run(['pin', 'milk']);
    expect([status, stderr]).toEqual([64, expect.stringContaining("next: handover save --pin 'buy milk'")]);
    expect(await sandbox.ok(['render'])).not.toContain('milk');
    await sandbox.save('--summary', 'two', '--next', 'buy milk');
    await sandbox.ok(['pin', 'milk']);
    await sandbox.save('--summary', 'three');
    expect(await sandbox.ok(['render'])).toContain('## Pinned\n> - next: buy milk');
  });
});

describe('handover resolve', () => {
  it('ends a check that failed with all that it said, by what the brief calls it', async () => {
    const sandbox = makeSandbox();
    const output = 'FAIL src/upload.test.ts\nTypeError: retry is not a function\nTests: 1 failed, 4 passed';
    await captureWork(sandbox, { day: 3, steps: [{ ask: 'Let it retry' }, { run: 'npm test', output, fails: true }] });
    expect(await sandbox.ok(['render'])).toContain('## Open errors');
    await sandbox.ok(['resolve', 'npm test']);
    expect(await sandbox.ok(['render'])).not.toContain('## Open errors');
    expect(await sandbox.ok([])).not.toContain('failing');
  });

  it('finds a fact by the whole of a short text', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('--summary', 'one', '--next', 'Do A', '--next', 'Do A and B');
    expect(await sandbox.ok(['resolve', 'Do A'])).toMatch(/^resolved f-\w+ {2}next: Do A$/m);
    expect((await sandbox.run(['resolve', 'A'])).status).toBe(66);
  });

  it('removes a fact until it is saved again', async () => {
    const sandbox = makeSandbox();
    await sandbox.save('--summary', 'one', '--decision', 'Use a queue');
    const fact = await idOf(sandbox, 'queue');
    await sandbox.ok(['resolve', fact]);
    expect(await sandbox.ok(['render'])).not.toContain('Use a queue');
    await sandbox.save('--summary', 'two', '--decision', 'Use a queue');
    expect(await sandbox.ok(['render'])).toContain('> - decision: Use a queue');
  });

  it.each(['resolve', 'refute'])(
    'does not end what a person states again, whatever is saved after it (%s)',
    async (mark) => {
      const sandbox = makeSandbox();
      await capture(sandbox, ['The lexer is next.']);
      await sandbox.save('--title', 'one', '--decision', 'Use a queue');
      await sandbox.ok([mark, await idOf(sandbox, 'queue'), '--because', 'it is slow']);
      await sandbox.save('--title', 'two', '--decision', 'Use a queue');
      const stands = async (): Promise<void> => {
        expect(await sandbox.ok(['render'])).toContain('> - decision: Use a queue');
        expect(await sandbox.ok(['diff', '--chain'])).toMatch(
          /standing \(\d+\)\n(?: {2}.*\n)* {2}decision +Use a queue/,
        );
        const { hits } = await sandbox.json<{ hits: { standing: string }[] }>([
          'search',
          'queue',
          '--kind',
          'decision',
        ]);
        expect(hits[0]?.standing).toBe('open');
        expect(await sandbox.ok(['doctor'])).not.toContain('does not say what became of');
      };
      await stands();
      await sandbox.save('--title', 'three', '--next', 'Write the tests');
      await stands();
      await capture(sandbox, ['The lexer is next.', 'It is done.']);
      await stands();
      await capture(sandbox, ['The tests are next.'], { id: OTHER_ID, day: 3 });
      await stands();
      await sandbox.ok(['resolve', await idOf(sandbox, 'queue')]);
      expect(await sandbox.ok(['render'])).not.toContain('Use a queue');
    },
  );
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
