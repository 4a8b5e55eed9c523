import { appendFileSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { captureWork, type Step, writeSessionOf } from '../../support/captured-work.ts';
import { makeSandbox, type Sandbox } from '../../support/cli.ts';
import { connect } from '../../support/mcp.ts';

const FAILURE = 'Error: the vault answered 503 to the signing request';
const steps: Step[] = [
  { ask: 'Never let src/signer.ts keep a key in memory' },
  { edit: 'src/signer.ts' },
  { run: 'npm test', output: `> test\n\n${FAILURE}`, fails: true },
  { say: 'The signer asks too early: src/signer.ts must wait for the vault.' },
];

interface Answer {
  uncaptured: { session: string; title: string | null; passages: { line: number; speaker: string; text: string }[] }[];
  session_index: string;
}

/** A session in the index that nobody captured, and one that somebody did. */
async function begin(): Promise<{ sandbox: Sandbox; id: string; path: string; handover: string }> {
  const sandbox = makeSandbox();
  const { id: handover } = await captureWork(sandbox, { day: 2, steps: [{ ask: 'Look at src/signer.ts' }] });
  const { id, path } = writeSessionOf(sandbox, { day: 3, steps });
  await sandbox.ok(['search', '--sessions']);
  return { sandbox, id, path, handover };
}

describe('sessions that were never captured', () => {
  it('answer why, with what was said of the file, the words of the human first', async () => {
    const { sandbox, id, handover } = await begin();
    const answer = await sandbox.json<Answer & { sessions: unknown }>(['why', 'src/signer.ts']);
    expect(answer).toMatchObject({ sessions: [{ handover }], uncaptured: [{ session: id }], session_index: 'current' });
    expect(answer.uncaptured[0]?.passages.map(({ speaker, text }) => [speaker, text])).toEqual([
      ['human', 'Never let src/signer.ts keep a key in memory'],
      ['agent', 'The signer asks too early: src/signer.ts must wait for the vault.'],
      ['agent', join(sandbox.project, 'src/signer.ts')],
    ]);
    const { stdout, stderr } = await sandbox.run(['why', 'src/signer.ts']);
    expect(stdout.indexOf(handover)).toBeLessThan(stdout.indexOf(id));
    expect(stdout).toContain('from a session, not captured');
    expect(stdout).toContain(`see it: handover sessions ${id} --line 1`);
    expect(stderr).not.toContain('never captured');
  });

  it('answer errors, by the shape of the error, with the line and how to open it', async () => {
    const { sandbox, id } = await begin();
    const asked = FAILURE.replace('503', '504');
    const answer = await sandbox.json<Answer>(['errors', asked]);
    expect(answer.uncaptured).toMatchObject([{ session: id, passages: [{ speaker: 'tool', text: FAILURE }] }]);
    const shown = await sandbox.ok(['errors', asked]);
    expect(shown).toMatch(/^no error that was captured is like this/);
    expect(shown).toContain(`line ${answer.uncaptured[0]?.passages[0]?.line}, tool: ${FAILURE}`);
    expect((await sandbox.json<Answer>(['errors', 'Segmentation fault in libz'])).uncaptured).toEqual([]);
  });

  it('are in the timeline with title and time, and captured ones are not there twice', async () => {
    const { sandbox, id, handover } = await begin();
    const { days } = await sandbox.json<{
      days: { uncaptured: { session: string; at: string }[]; sessions: unknown[] }[];
    }>(['timeline']);
    expect(days.flatMap(({ uncaptured }) => uncaptured)).toMatchObject([
      {
        session: id,
        title: 'Never let src/signer.ts keep a key in memory',
        // Of its last event: the file is as new as this test.
        at: expect.stringMatching(/^2026-02-03T/),
      },
    ]);
    expect(days.flatMap(({ sessions }) => sessions)).toMatchObject([{ handover }]);
    expect(await sandbox.ok(['timeline'])).toContain(`from a session, not captured; see it: handover sessions ${id}`);
    await sandbox.ok(['backfill']);
    expect(await sandbox.ok(['timeline'])).not.toContain('not captured');
  });

  it('are in the timeline on the day of their last words, also where the transcript was copied since', async () => {
    const { sandbox, id, path } = await begin();
    utimesSync(path, new Date(), new Date());
    await sandbox.ok(['search', '--sessions']);
    const { days } = await sandbox.json<{ days: { uncaptured: { session: string; at: string }[] }[] }>(['timeline']);
    const [listed] = days.flatMap(({ uncaptured }) => uncaptured);
    expect(listed?.session).toBe(id);
    const times = readFileSync(path, 'utf8').match(/(?<="timestamp":")[^"]+/g) ?? [];
    expect(Date.parse(listed?.at ?? '')).toBe(Math.trunc(Date.parse(times.at(-1) ?? '') / 1000) * 1000);
  });

  it('are left out where they are of another project, or of another agent than was asked for', async () => {
    const { sandbox } = await begin();
    writeSessionOf(sandbox, { day: 4, steps, cwd: sandbox.home });
    await sandbox.ok(['search', '--sessions']);
    const ask = async (...flags: string[]): Promise<number> =>
      (await sandbox.json<Answer>(['errors', FAILURE, ...flags])).uncaptured.length;
    expect(await ask()).toBe(1);
    expect(await ask('--all')).toBe(2);
    expect(await ask('--agent', 'claude-code')).toBe(1);
    expect(await ask('--agent', 'codex')).toBe(0);
    expect(await ask('--since', '2200-01-01', '--all')).toBe(0);
  });

  it('are not read for a question: without an index, or with an old one, one line says what to type', async () => {
    const { sandbox, path } = await begin();
    appendFileSync(path, readFileSync(path, 'utf8').replaceAll('vault', 'safe'));
    const behind = await sandbox.run(['errors', FAILURE, '--json']);
    expect(JSON.parse(behind.stdout)).toMatchObject({ session_index: 'behind', uncaptured: [{}] });
    expect(behind.stderr).toContain('to read them: handover search --sessions');
    rmSync(join(sandbox.store, 'sessions.sqlite'));
    const missing = await sandbox.run(['errors', FAILURE, '--json']);
    expect(JSON.parse(missing.stdout)).toMatchObject({ session_index: 'missing', uncaptured: [] });
    expect(missing.stderr).toContain('to read them: handover search --sessions');
    await sandbox.ok(['search', '--sessions']);
    expect(await sandbox.json(['errors', FAILURE])).toMatchObject({ session_index: 'current', uncaptured: [{}] });
  });

  it('are asked with those whose handovers lack the answer', async () => {
    const { sandbox } = await begin();
    const output = `${FAILURE}\nleft over: 3 parts of Yarrow`;
    const run: Step = { run: 'npm run sign', output, fails: true };
    const said: Step[] = [{ say: 'src/vault.ts holds the keys of Yarrow.' }, { run: 'ls' }, { say: 'All is well.' }];
    const { id } = writeSessionOf(sandbox, { day: 5, steps: [{ ask: 'Sign the release' }, run, ...said] });
    await sandbox.ok(['search', '--sessions']);
    await sandbox.ok(['backfill']);
    type Texts = { captured_texts: unknown };
    expect(await sandbox.json<Texts>(['errors', 'left over: 3 parts of Yarrow'])).toMatchObject({
      seen: [],
      uncaptured: [],
      captured_texts: [{ session: id, passages: [{ text: 'left over: 3 parts of Yarrow' }] }],
    });
    expect((await sandbox.json<Texts>(['errors', FAILURE])).captured_texts).toEqual([]);
    expect(await sandbox.ok(['why', 'src/vault.ts'])).toMatch(
      /^no handover mentions src\/vault\.ts\n.*\n.*from the text of a captured session\n {2}line \d+, agent: src\/vault\.ts holds/,
    );
  });

  it('need no index where all are captured, and are not shown once they are forgotten', async () => {
    const sandbox = makeSandbox();
    const { id } = await captureWork(sandbox, { day: 3, steps });
    const { stderr } = await sandbox.run(['why', 'src/signer.ts']);
    expect(stderr).not.toContain('search --sessions');
    await sandbox.ok(['search', '--sessions']);
    await sandbox.ok(['forget', id]);
    expect(await sandbox.json(['why', 'src/signer.ts'])).toMatchObject({ sessions: [], uncaptured: [] });
  });

  it('are found by the search of the MCP server too, below facts and marked', async () => {
    const { sandbox, id } = await begin();
    const { call } = await connect(sandbox);
    const { text } = await call('search', { query: 'vault signing request' });
    expect(text).toContain(FAILURE);
    expect(text).toContain('from a session, not captured');
    expect(text).toContain(`get ${JSON.stringify({ id, line: 5 })}`);
    expect((await call('search', { query: 'an entirely different matter' })).text).toContain('Nothing found');
  });
});
