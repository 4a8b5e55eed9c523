import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sealHandover } from '../../../src/handover/seal.ts';
import type { Handover } from '../../../src/model/handover.ts';
import type { Claim } from '../../../src/model/workspace.ts';
import { saveHandover } from '../../../src/store/handovers.ts';
import { openStore } from '../../../src/store/store.ts';
import { captureWork } from '../../support/captured-work.ts';
import { makeSandbox, runGit, type Sandbox } from '../../support/cli.ts';

/** Before the sessions: files that are newer have no digest. */
const SESSION_TIME = new Date('2026-02-01T00:00:00Z');

/** A repository with a second worktree on a branch of its own, each with a session. */
async function workOnTwoBranches(): Promise<{ sandbox: Sandbox; other: string; ours: Handover; theirs: Handover }> {
  const sandbox = makeSandbox();
  const { project } = sandbox;
  const other = join(sandbox.folder, 'other');
  mkdirSync(join(project, 'src'));
  writeFileSync(join(project, 'src/a.ts'), 'a\n');
  runGit(project, 'init', '-q');
  runGit(project, 'add', '-A');
  runGit(project, 'commit', '-qm', 'Begin');
  runGit(project, 'worktree', 'add', '-q', '-b', 'feature', other);
  const ours = await captureWork(sandbox, { day: 3, steps: [{ ask: 'Tidy the parser' }, { edit: 'src/a.ts' }] });
  writeFileSync(join(other, 'src/b.ts'), 'b\n');
  utimesSync(join(other, 'src/b.ts'), SESSION_TIME, SESSION_TIME);
  runGit(other, 'add', '-A');
  runGit(other, 'commit', '-qm', 'Add b');
  const theirs = await captureWork(sandbox, {
    ...{ day: 4, cwd: other },
    steps: [{ ask: 'Add b. Never log the token.' }, { edit: 'src/b.ts' }],
  });
  return { sandbox, other, ours, theirs };
}

describe('merge', () => {
  it('joins two handovers, and says so when there is nothing left to join', async () => {
    const { sandbox, ours, theirs } = await workOnTwoBranches();
    const merged = await sandbox.json<{ outcome: string; id: string }>(['merge', ours.id, theirs.id]);
    expect(merged.outcome).toBe('merged');
    const handover = await sandbox.json<Handover>(['show', merged.id]);
    expect([handover.previous, handover.chain?.joined]).toEqual([ours.id, theirs.id]);
    expect(handover.facts.filter(({ kind }) => kind === 'file').map(({ text }) => text)).toEqual(
      expect.arrayContaining(['src/a.ts', 'src/b.ts']),
    );
    for (const again of [
      [ours.id, theirs.id],
      [theirs.id, ours.id],
    ])
      expect(await sandbox.json(['merge', ...again])).toMatchObject({ outcome: 'contained', id: merged.id });
    expect(await sandbox.json(['merge', merged.id, theirs.id])).toMatchObject({ outcome: 'contained', id: merged.id });
    expect(await sandbox.ok(['doctor'])).not.toContain('does not say what became of');
  });

  it.each([
    ['first', false],
    ['second', true],
  ])('goes on from what was worked on last in this worktree, named %s', async (_, isSwapped) => {
    const sandbox = makeSandbox();
    // What was captured first does not follow what happened before it.
    const [newer, older] = [
      await captureWork(sandbox, { day: 4, steps: [{ ask: 'Write the tests of it' }, { edit: 'src/b.ts' }] }),
      await captureWork(sandbox, { day: 3, steps: [{ ask: 'Tidy the parser' }, { edit: 'src/a.ts' }] }),
    ];
    const ids = isSwapped ? [older.id, newer.id] : [newer.id, older.id];
    const { outcome, id } = await sandbox.json<{ outcome: string; id: string }>(['merge', ...ids]);
    const { previous } = await sandbox.json<Handover>(['show', id]);
    expect([outcome, previous]).toEqual(['merged', newer.id]);
  });

  it('happens by itself when the branch of another worktree is merged into this one', async () => {
    const { sandbox, theirs, ours } = await workOnTwoBranches();
    expect((await sandbox.json<{ id: string }>(['resume'])).id).toBe(ours.id);
    runGit(sandbox.project, 'merge', '-q', '--no-ff', '-m', 'Merge feature', 'feature');
    const { stdout, stderr } = await sandbox.run(['resume']);
    expect(stderr).toContain(`merged the work of`);
    expect(stderr).toContain(theirs.id);
    for (const name of ['a.ts', 'b.ts', 'Tidy the parser']) expect(stdout).toContain(name);
    expect((await sandbox.run(['resume'])).stderr).not.toContain('merged the work of');
  });

  it('is the newest then, though the other session was later', async () => {
    const { sandbox } = await workOnTwoBranches();
    runGit(sandbox.project, 'merge', '-q', '--no-ff', '-m', 'Merge feature', 'feature');
    const { id } = await sandbox.json<{ id: string }>(['resume']);
    expect((await sandbox.json<Handover>(['show'])).id).toBe(id);
    const { handovers } = await sandbox.json<{ handovers: { id: string }[] }>(['diff', '--chain']);
    expect(handovers.at(-1)?.id).toBe(id);
  });

  it('takes on the second time what changed since the first, and asks nothing again', async () => {
    const { sandbox, other } = await workOnTwoBranches();
    await sandbox.save('Ours', '--decision', 'Use npm');
    await sandbox.ok(['save', 'Theirs', '--decision', 'Use pnpm'], { cwd: other });
    const mergeBranch = async (): Promise<Handover> => {
      runGit(sandbox.project, 'merge', '-q', '--no-ff', '-m', 'Merge feature', 'feature');
      return await sandbox.json<Handover>(['show', (await sandbox.json<{ id: string }>(['resume'])).id]);
    };
    const listQuestions = ({ facts }: Handover): string[] =>
      facts.filter(({ kind }) => kind === 'question').map(({ text }) => text.replace(/ in \d{8}-\d{6}-\w{4}/g, ''));
    const first = await mergeBranch();
    expect(listQuestions(first)).toEqual(['decided differently: "Use npm", "Use pnpm"']);
    await sandbox.ok(['resolve', 'decided differently', '--because', 'pnpm']);
    writeFileSync(join(other, 'src/b.ts'), 'b2\n');
    utimesSync(join(other, 'src/b.ts'), SESSION_TIME, SESSION_TIME);
    runGit(other, 'commit', '-qam', 'Change b');
    await captureWork(sandbox, {
      ...{ day: 5, cwd: other },
      steps: [{ ask: 'Change b once more' }, { edit: 'src/b.ts' }],
    });
    const second = await mergeBranch();
    expect(second.id).not.toBe(first.id);
    expect(listQuestions(second)).toEqual([]);
    const { claims }: { claims: Claim[] } = JSON.parse((await sandbox.run(['verify', '--json'])).stdout);
    expect(claims.filter(({ state }) => state === 'changed' || state === 'gone')).toEqual([]);
  });

  it('also when the branch was committed after its session, with its rules and what was resolved', async () => {
    const { sandbox, other } = await workOnTwoBranches();
    await sandbox.save('A note', '--next', 'Tag it');
    await sandbox.ok(['resolve', 'Tag it', '--because', 'done']);
    writeFileSync(join(other, 'src/c.ts'), 'c\n');
    runGit(other, 'add', '-A');
    runGit(other, 'commit', '-qm', 'Add c');
    runGit(sandbox.project, 'merge', '-q', '--no-ff', '-m', 'Merge feature', 'feature');
    const { stdout, stderr } = await sandbox.run(['resume']);
    expect(stderr).toContain('merged the work of');
    expect(stdout).toContain('Never log the token.');
    const line = await sandbox.ok(['diff', '--chain']);
    expect(line).toMatch(/resolved \(\d\)\n.*Tag it.*done/);
    expect(line).not.toContain('lost');
    expect(await sandbox.ok(['show'])).toMatch(/^follows +\S+ and \S+,/m);
    expect(await sandbox.ok(['doctor'])).not.toContain('does not say what became of');
  });

  it('refuses one handover twice, other projects and what is not there', async () => {
    const { sandbox, ours } = await workOnTwoBranches();
    const elsewhere = join(sandbox.folder, 'elsewhere');
    mkdirSync(elsewhere);
    const { id } = JSON.parse(await sandbox.ok(['save', 'x', '--json'], { cwd: elsewhere }));
    for (const [args, status, words] of [
      [[ours.id, ours.id], 64, 'the same handover'],
      [[ours.id, id], 64, 'different projects'],
      [[ours.id, '20990101-000000-zzzz'], 66, 'no handover has the id'],
    ] as const) {
      const result = await sandbox.run(['merge', ...args]);
      expect([result.status, result.stderr]).toEqual([status, expect.stringContaining(words)]);
    }
  });
});

describe('diff --chain', () => {
  it('shows what stands, and where and why the rest ended', async () => {
    const sandbox = makeSandbox();
    await captureWork(sandbox, { day: 3, steps: [{ ask: 'Tidy the parser' }, { edit: 'src/a.ts' }] });
    const first = await sandbox.save('--title', 'First', '--decision', 'Keep it small', '--next', 'Write the docs');
    const second = await sandbox.save('--title', 'Second', '--next', 'Write the tests');
    const line = await sandbox.ok(['diff', '--chain']);
    expect(line).toMatch(new RegExp(`${first}.*First\\n.*${second}.*Second`));
    expect(line).toMatch(/standing \(\d\)\n {2}.*\n/);
    expect(line).toContain('Keep it small');
    await sandbox.ok(['resolve', 'Write the docs', '--because', 'they are there']);
    await sandbox.save('--title', 'Third', '--decision', 'Ship it');
    expect(await sandbox.ok(['diff', '--chain'])).toMatch(/resolved \(1\)\n.*Write the docs.*they are there/);
  });

  it('and doctor name a fact that got lost', async () => {
    const sandbox = makeSandbox();
    const first = await sandbox.save('--title', 'First', '--decision', 'Keep it small');
    const sealed = await sandbox.json<Handover>(['show', first]);
    const { checksum: _, ...rest } = sealed;
    const chain = { carried: 0, resolved: [], superseded: [], dropped: [] };
    saveHandover(openStore(sandbox.machine), (stamp) =>
      sealHandover({ ...rest, ...stamp, facts: [], previous: first, chain }),
    );
    expect(await sandbox.ok(['diff', '--chain'])).toMatch(/lost \(1\)\n.*Keep it small/);
    expect(await sandbox.ok(['doctor'])).toContain('does not say what became of 1 fact');
  });
});
