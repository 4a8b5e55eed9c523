import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { takeTask } from '../../../src/exchange/remote/custody.ts';
import { openFolderBlobs } from '../../../src/exchange/remote/folder-blobs.ts';
import { openObjectRegister } from '../../../src/exchange/remote/object-register.ts';
import type { Handover } from '../../../src/model/handover.ts';
import { makeSandbox, makeTempFolder, runGit, type Sandbox } from '../../support/cli.ts';

interface Pair {
  ada: Sandbox;
  ben: Sandbox;
  /** The folder that both share. */
  shared: string;
  /** A handover that Ada saved, and that both have. */
  task: string;
}

/** Two people with a store each, who trust each other and share a folder. */
async function makePair(): Promise<Pair> {
  const [ada, ben, shared] = [makeSandbox(), makeSandbox(), makeTempFolder()];
  const keys = await Promise.all([
    ada.json<{ public_key: string }>(['keys', 'generate', '--name', 'ada']),
    ben.json<{ public_key: string }>(['keys', 'generate', '--name', 'ben']),
  ]);
  await ada.ok(['keys', 'trust', keys[1].public_key, '--name', 'ben']);
  await ben.ok(['keys', 'trust', keys[0].public_key, '--name', 'ada']);
  for (const one of [ada, ben]) {
    await one.ok(['remote', 'add', 'team', shared]);
    addAgent(one, 'exit 0');
  }
  const task = await ada.save('Retries done', '--next', 'Write the timeout test', '--agent', 'codex');
  for (const one of [ada, ben]) await one.ok(['sync', '--yes']);
  return { ada, ben, shared, task };
}

/** What Codex is for a sandbox: a script. */
function addAgent({ folder }: Sandbox, script: string): void {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  const path = join(folder, 'bin', 'codex');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

function withAgent({ folder }: Sandbox) {
  return { env: { PATH: `${join(folder, 'bin')}:${process.env.PATH}` } };
}

/** Ben takes the task with a clock on which every lease is over. */
async function takeMuchLater({ ben, shared, task }: Pair): Promise<void> {
  const clock = { now: () => Date.now() + 7_200_000 };
  const machine = { ...ben.machine, clock };
  const register = openObjectRegister(openFolderBlobs(shared, machine), { machine, triesCreation: false });
  const by = { writer: 'b'.repeat(32), name: 'ben' };
  const project = (await register.read(task))?.project ?? '';
  await takeTask(register, { task, project, by, leaseMs: 600_000 });
}

describe('offer, take and release', () => {
  it('hand a task from one to the other: one holds it, and everybody can see who', async () => {
    const { ada, ben, task } = await makePair();
    expect(await ada.json(['offer', task, '--to', 'ben'])).toMatchObject({ task, state: 'offered', to: 'ben' });
    const refused = await ada.run(['take', task], withAgent(ada));
    expect([refused.status, refused.stderr]).toEqual([77, expect.stringContaining('offered by ada to ben')]);

    const taken = await ben.json<{ fence: number; prompt: string }>(['take', task, 'codex']);
    expect(taken).toMatchObject({ task, fence: 2, agent: 'codex', remote: 'team' });
    expect(taken.prompt).toContain('Write the timeout test');
    expect(await ben.ok(['status'])).toContain(`you hold ${task}`);
    expect(await ada.ok(['who', task])).toContain('held by ben until');
    const late = await ada.run(['take', task]);
    expect([late.status, late.stderr]).toEqual([75, expect.stringContaining('held by ben')]);

    expect(await ben.json(['release', '--done'])).toMatchObject({ task, outcome: 'done', fence: 2 });
    expect(await ben.ok(['status'])).not.toContain('you hold');
    expect(await ada.ok(['who', task])).toContain('done by ben');
    expect((await ada.run(['offer', task])).stderr).toContain('A task is done once');
  });

  it('name somebody as the trust list does, whatever name the key signs with', async () => {
    const { ada, shared } = await makePair();
    const ben = makeSandbox();
    const { public_key } = await ben.json<{ public_key: string }>(['keys', 'generate', '--name', 'ben-vm']);
    await ada.ok(['keys', 'revoke', 'ben']);
    await ada.ok(['keys', 'trust', public_key, '--name', 'benjamin']);
    await ben.ok(['remote', 'add', 'team', shared]);
    const task = await ada.save('For Benjamin', '--agent', 'codex');
    const early = await ada.run(['offer', task, '--to', 'benjamin']);
    expect(early.stderr).toContain('has sent nothing there yet');
    await ben.save('Hello', '--next', 'wait');
    await ben.ok(['sync', '--yes']);
    expect(await ada.json(['offer', task, '--to', 'benjamin'])).toMatchObject({ to: 'ben-vm' });
    const again = await ada.run(['offer', task, '--to', 'ben-vm']);
    expect([again.status, again.stderr]).toEqual([0, '']);
  });

  it('refuse a task whose handover never leaves', async () => {
    const { ada, task } = await makePair();
    runGit(ada.project, 'init', '--quiet');
    const own = await ada.save('Stays here', '--next', 'nothing');
    const shared = makeTempFolder();
    await ada.ok(['remote', 'add', 'narrow', shared, '--agent', 'codex']);
    await ada.ok(['sync', 'narrow', '--yes']);
    const other = await ada.run(['offer', own, '--remote', 'narrow']);
    expect([other.status, other.stderr]).toEqual([77, expect.stringContaining('does not leave for narrow')]);
    await ada.ok(['offer', task, '--remote', 'narrow']);
    mkdirSync(join(ada.project, '.agent-handover'), { recursive: true });
    writeFileSync(join(ada.project, '.agent-handover', 'config.toml'), '[sync]\nenabled = false\n');
    const closed = await ada.run(['offer', 'latest', '--remote', 'team']);
    expect([closed.status, closed.stderr]).toEqual([77, expect.stringContaining('does not leave for team')]);
    expect((await ada.json<{ open: unknown[] }>(['who', '--remote', 'team'])).open).toEqual([]);
  });

  it('start the agent with the brief, tell it what it works on, and release the task when it ends', async () => {
    const pair = await makePair();
    const { ada, ben, task } = pair;
    await ada.ok(['offer', task, '--label', 'nightly']);
    const [prompt, env, seen] = ['prompt', 'env', 'seen'].map((name) => join(ben.folder, name));
    const handover = `"${process.execPath}" "${process.cwd()}/bin/handover.cjs"`;
    addAgent(
      ben,
      `printf '%s' "$1" > ${prompt}; printf '%s' "$HANDOVER_TASK" > ${env}; ${handover} who > ${seen}; exit 3`,
    );
    const run = await ben.run(['take', '--next', '--label', 'nightly', 'codex', '--done'], withAgent(ben));
    expect([run.status, run.stderr]).toEqual([3, expect.stringContaining(`task ${task} is released`)]);
    expect(readFileSync(prompt ?? '', 'utf8')).toContain('Write the timeout test');
    expect(readFileSync(env ?? '', 'utf8')).toBe(`${task}:2`);
    expect(readFileSync(seen ?? '', 'utf8')).toContain(`you hold ${task}`);
    const ended = await ben.run(['who', `${task}:2`]);
    expect([ended.status, ended.stdout]).toEqual([77, expect.stringContaining(`${task}  released by ben`)]);

    addAgent(ben, 'exit 0');
    const again = await ben.run(['take', '--next', '--project', '.', '--done'], withAgent(ben));
    expect([again.status, again.stderr]).toEqual([66, expect.stringContaining('no open task of this project')]);
    const { status, stderr } = await ben.run(['take', '--next', '--done'], withAgent(ben));
    expect([status, stderr]).toEqual([0, expect.stringContaining(`task ${task} is done`)]);
    expect((await ben.run(['take', '--next'], withAgent(ben))).status).toBe(66);
  });

  it('take the latest of this project, whatever is newer elsewhere', async () => {
    const { ada, task } = await makePair();
    await ada.ok(['save', 'Work on something else'], { cwd: makeTempFolder() });
    await ada.ok(['sync', '--yes']);
    expect(await ada.json(['take', 'latest', 'codex'])).toMatchObject({ task });
  });

  it('give a task back when the agent cannot be started', async () => {
    const { ada, task } = await makePair();
    const run = await ada.run(['take', task, 'gemini']);
    expect(run.status).toBe(69);
    expect(await ada.ok(['who', task])).toContain('released by ada');
  });

  it('leave a task to the one whom it was offered to when nothing was done on it', async () => {
    const { ada, ben, task } = await makePair();
    const { stderr } = await ada.run(['offer', task, '--to', 'benn']);
    expect(stderr).toContain('nobody on your trust list signs as benn');
    expect((await ada.run(['offer', task, '--to', 'ben'])).stderr).not.toContain('trust list');
    expect((await ben.run(['take', task, 'gemini'])).status).toBe(69);
    expect(await ada.ok(['who', task])).toContain('to ben since');
    expect((await ada.run(['take', task], withAgent(ada))).status).toBe(77);
  });

  it('start the agent where the project is on this machine, whichever folder the task is taken in', async () => {
    const { ada, ben } = await makePair();
    for (const { project } of [ada, ben]) {
      runGit(project, 'init', '--quiet');
      runGit(project, 'remote', 'add', 'origin', 'https://example.com/team/app.git');
    }
    await ada.ok(['offer', await ada.save('In the app', '--agent', 'codex')]);
    await ben.ok(['status']);
    addAgent(ben, `pwd > ${join(ben.folder, 'where')}`);
    await ben.ok(['take', '--next'], { ...withAgent(ben), cwd: makeTempFolder() });
    expect(readFileSync(join(ben.folder, 'where'), 'utf8')).toBe(`${ben.project}\n`);
  });

  it('pass over a task whose handover is gone or unreadable, so that a fleet goes on, and let it be closed', async () => {
    const { ada, ben, shared, task } = await makePair();
    const stranger = makeSandbox();
    await stranger.ok(['keys', 'generate', '--name', 'stranger']);
    await stranger.ok(['remote', 'add', 'team', shared]);
    const unreadable = await stranger.save('Of somebody unknown');
    await stranger.ok(['sync', '--yes']);
    await stranger.ok(['offer', unreadable, '--to', 'ben']);
    await ada.ok(['offer', task]);
    await ada.ok(['forget', task, '--yes']);
    const last = await ada.save('Still to do', '--agent', 'codex');
    await ada.ok(['offer', last]);

    const { status, stderr } = await ben.run(['take', '--next', '--done', 'codex'], withAgent(ben));
    expect([status, stderr]).toEqual([0, expect.stringContaining(`task ${last} is done`)]);
    expect(stderr).toContain('passed over 2 open tasks');
    expect(await ben.ok(['who', unreadable])).toContain('to ben since');
    expect((await ben.run(['take', '--next'], withAgent(ben))).status).toBe(66);
    expect(await ada.ok(['who', task])).toContain('released by ben');
    await ada.ok(['release', task, '--done']);
    expect(await ben.ok(['who', task])).toContain('done by ada');
    expect((await ben.run(['take', '--next'], withAgent(ben))).stderr).toContain('passed over 1 open task');
  });

  it('show what is offered to others, and whose key holds a task that this store knows nothing of', async () => {
    const { ada, ben, task } = await makePair();
    await ada.ok(['offer', task, '--to', 'ben']);
    expect(await ada.ok(['who'])).toMatch(new RegExp(`open +${task} .*for ben`));
    expect(await ben.ok(['who'])).toContain('1 task of other projects is: handover take --next AGENT');
    await ben.ok(['take', task, '--print']);
    rmSync(join(ben.store, 'remotes', 'custody'), { recursive: true });
    const { status, stderr } = await ben.run(['take', task, '--print']);
    expect([status, stderr]).toEqual([75, expect.stringContaining(`handover release ${task}`)]);
    await ben.ok(['remote', 'add', 'other', makeTempFolder()]);
    expect((await ben.run(['release', task])).stderr).toContain('--remote');
    expect(await ben.ok(['release', task, '--remote', 'team'])).toContain(`released ${task}`);
  });

  it('let the agent itself say that it is done, and start no second one on the same task', async () => {
    const { ada, task } = await makePair();
    const handover = `"${process.execPath}" "${process.cwd()}/bin/handover.cjs"`;
    const second = join(ada.folder, 'second');
    addAgent(ada, `${handover} take ${task} 2> ${second}; ${handover} release --done`);
    await ada.ok(['take', task, 'codex'], withAgent(ada));
    expect(readFileSync(second, 'utf8')).toContain('you hold task');
    expect(await ada.ok(['who', task])).toContain('done by ada');
  });
});

/** Its lease is over, by the clock of this machine. */
function endLeaseOf({ store }: Sandbox, task: string): void {
  const path = join(store, 'remotes', 'custody', `${task}.json`);
  const record = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify({ ...record, custody: { ...record.custody, until: new Date().toISOString() } }));
}

describe('a task that this store holds', () => {
  it('is told and can be let go, and said to be done again, where the remote was put back to before', async () => {
    const { ada, shared, task } = await makePair();
    const other = await ada.save('Another', '--agent', 'codex');
    await ada.ok(['offer', other]);
    const backup = makeTempFolder();
    cpSync(shared, backup, { recursive: true });
    for (const one of [task, other]) await ada.ok(['take', one, '--print']);
    await ada.ok(['release', other, '--done']);
    await ada.save('Later');
    await ada.ok(['sync']);
    rmSync(shared, { recursive: true });
    cpSync(backup, shared, { recursive: true });
    const said = await ada.ok(['sync']);
    expect(said).toContain(`task ${task} was held here, and team knows nothing of it`);
    expect(said).toContain(`handover release ${other} --remote team --done`);
    await ada.ok(['release', other, '--remote', 'team', '--done']);
    expect(await ada.ok(['who', other])).toContain('done by ada');
    expect((await ada.run(['release', task])).stderr).toContain('restored from a backup');
    expect(await ada.ok(['status'])).not.toContain('you hold');
  });

  it('must be named where there are several in a worktree', async () => {
    const { ada, task } = await makePair();
    const other = await ada.save('Another', '--agent', 'codex');
    for (const one of [task, other]) await ada.ok(['take', one, '--print']);
    const { status, stderr } = await ada.run(['release']);
    expect([status, stderr]).toEqual([64, expect.stringContaining(task)]);
    await ada.ok(['release', task]);
    expect(await ada.ok(['release'])).toContain(other);
  });

  it('is not shown as held when its lease is over, or its remote was removed', async () => {
    const { ada, task } = await makePair();
    await ada.ok(['take', task, '--print']);
    const fenced = `${task}:1`;
    expect(await ada.json(['who', fenced])).toMatchObject({ ours: true });
    expect((await ada.run(['who', `${task}:2`])).status).toBe(77);
    endLeaseOf(ada, task);
    for (const command of ['status', 'who']) expect(await ada.ok([command])).toContain(`you held ${task}`);
    expect(await ada.ok(['take', task, '--print'])).toContain('Write the timeout test');
    expect(await ada.ok(['status'])).toContain(`you hold ${task}`);
    expect((await ada.run(['remote', 'remove', 'team'])).stderr).toContain(`you hold task ${task} there`);
    expect(await ada.ok(['status'])).not.toContain('you hold');
  });
});

describe('a late holder', () => {
  it('fails the check of whoever asks with its number, and its take', async () => {
    const pair = await makePair();
    const { ada, task } = pair;
    const [ready, goOn, fate] = ['ready', 'go-on', 'fate'].map((name) => join(ada.folder, name));
    const handover = `"${process.execPath}" "${process.cwd()}/bin/handover.cjs"`;
    addAgent(
      ada,
      `touch ${ready}; while [ ! -e ${goOn} ]; do sleep 0.1; done; ${handover} who "$HANDOVER_TASK"; echo $? > ${fate}`,
    );
    const run = ada.run(['take', task, 'codex', '--done'], withAgent(ada));
    await expect.poll(() => existsSync(ready ?? ''), { timeout: 15_000 }).toBe(true);
    await takeMuchLater(pair);
    writeFileSync(goOn ?? '', '');
    const { status, stderr } = await run;
    expect([status, stderr]).toEqual([77, expect.stringContaining('held by ben')]);
    expect(readFileSync(fate ?? '', 'utf8')).toBe('77\n');
  });

  it('is told when releasing, and what it saved since its lease ended is marked for everybody', async () => {
    const pair = await makePair();
    const { ada, ben, task } = pair;
    await ada.ok(['take', task, '--print', '--lease', '1']);
    const before = await ada.save('In time', '--next', 'Write the timeout test');
    endLeaseOf(ada, task);
    const after = await ada.save('Too late', '--next', 'Write the timeout test');
    await takeMuchLater(pair);

    expect(await ada.ok(['list'])).not.toContain('late:');
    const { status, stderr } = await ada.run(['release']);
    expect([status, stderr]).toEqual([77, expect.stringContaining('held by ben')]);
    const rows = await ada.json<{ id: string; late?: string }[]>(['list']);
    expect(rows.map(({ id, late }) => [id, late])).toEqual(
      expect.arrayContaining([
        [after, 'ben'],
        [before, undefined],
        [task, undefined],
      ]),
    );
    expect(await ada.ok(['resume'])).toContain(
      'Late: this was saved after the lease of its task had ended, and ben took the task over',
    );
    expect((await ada.json<Handover>(['show', after])).facts.some(({ text }) => text.startsWith('Late:'))).toBe(false);
    expect(await ada.ok(['doctor'])).not.toContain('damaged');

    for (const one of [ada, ben]) await one.ok(['sync']);
    expect(await ben.ok(['list', '--limit', '0'])).toMatch(/Too late[\s\S]*late: ben took the task over/);
  });

  it('is shown as late while it goes on, with all that it saves', async () => {
    const pair = await makePair();
    const { ada, task } = pair;
    await ada.ok(['take', task, '--print', '--lease', '1']);
    await takeMuchLater(pair);
    expect(await ada.ok(['who', task])).toContain('your number 1 is behind that of ben');
    const saved = await ada.save('Still at it');
    expect(await ada.ok(['status'])).toContain('ben holds it since');
    expect(await ada.ok(['list'])).toMatch(/Still at it.*\n?.*late: ben took the task over/);
    expect(await ada.ok(['render', saved])).toContain('Late:');
    expect((await ada.run(['release'])).status).toBe(77);
    const next = await ada.save('Another thing');
    expect(await ada.ok(['render', next])).not.toContain('Late:');
  });
});
