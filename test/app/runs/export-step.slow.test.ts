import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Checkpoint } from '../../../src/memory/runs/checkpoint.ts';
import { type Desk, errorCode, makeDesk } from '../../support/cli.ts';
import { listFiles } from '../../support/tree.ts';

interface ExportDesk extends Desk {
  out: string;
  declared: string;
}

/** A desk with one handover, a folder for what leaves, and a run that exports, declared by its user. */
async function makeExportDesk(step: string): Promise<ExportDesk> {
  const desk = makeDesk();
  await desk.save('--title', 'Retries', '--summary', `seen in ${desk.home}/shop`, '--next', 'Write the test');
  const folder = join(desk.home, '.config', 'agent-handover');
  mkdirSync(folder, { recursive: true });
  const out = join(desk.home, 'out');
  mkdirSync(out);
  const declared = join(folder, 'out.toml');
  writeFileSync(declared, `[[step]]\nkind = "export"\n${step}`);
  return { ...desk, out, declared };
}

const run = (desk: ExportDesk): string[] => ['run', '--config', desk.declared];

/** As if the process had ended before it recorded that the step was done. */
function forgetThatItIsDone(desk: Desk): void {
  const path = join(desk.project, '.agent-handover', 'checkpoint.json');
  const state = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify({ ...state, status: 'in_progress', steps: { export: 'pending' } }));
}

describe('a step that exports', () => {
  it.each([
    ['markdown', 'target = "codex"\n', 'Write the test'],
    ['json', '', '"title": "Retries"'],
    ['session-handoff', '', '"checksum"'],
    ['v2', '', '"resume_snapshot"'],
  ])('writes %s without paths of this machine', async (format, more, expected) => {
    const desk = await makeExportDesk(`format = "${format}"\noutput = "~/out/work"\n${more}`);
    expect(await desk.ok(run(desk))).toBe('handover steps executed: export\n');
    const text = readFileSync(join(desk.out, 'work'), 'utf8');
    expect(text).toContain(expected);
    expect(text).not.toContain(desk.home);
    expect(statSync(join(desk.out, 'work')).mode & 0o777).toBe(0o600);
    const { run: details } = new Checkpoint(undefined, desk.machine).load();
    expect(details?.steps.get('export')?.effect).toBe('~/out/work');
  });

  it('writes a bundle that only its recipient can open', async () => {
    const other = makeDesk();
    await other.ok(['keys', 'generate', '--name', 'bo']);
    const { recipient } = await other.json<{ recipient: string }>(['keys', 'export']);
    const desk = await makeExportDesk(
      `format = "bundle"\noutput = "~/out/work.handover"\nsign = true\nrecipients = ["${recipient}"]\n`,
    );
    await desk.ok(['keys', 'generate', '--name', 'ada']);
    await desk.ok(run(desk));
    const bundle = join(desk.out, 'work.handover');
    const { public_key } = await desk.json<{ public_key: string }>(['keys', 'export']);
    expect((await desk.run(['import', '--input', bundle, '--json'])).status).not.toBe(0);
    await other.ok(['keys', 'trust', public_key, '--name', 'ada']);
    await other.ok(['import', '--input', bundle]);
    expect(await other.json<unknown[]>(['list'])).toHaveLength(1);
  });

  it('is executed once, though its completion was not recorded', async () => {
    const desk = await makeExportDesk('format = "bundle"\noutput = "~/out/work.handover"\n');
    await desk.ok(run(desk));
    const { ino } = statSync(join(desk.out, 'work.handover'));
    forgetThatItIsDone(desk);
    await desk.ok(run(desk));
    expect(statSync(join(desk.out, 'work.handover')).ino).toBe(ino);
  });

  it('skips the number of a bundle that was never written, and the receiver accepts the next', async () => {
    const other = makeDesk();
    const desk = await makeExportDesk('format = "bundle"\noutput = "~/out/work.handover"\nsign = true\n');
    await desk.ok(['keys', 'generate', '--name', 'ada']);
    const { public_key } = await desk.json<{ public_key: string }>(['keys', 'export']);
    await other.ok(['keys', 'trust', public_key, '--name', 'ada']);
    const bundle = join(desk.out, 'work.handover');
    await desk.ok(run(desk));
    await other.ok(['import', '--input', bundle]);
    const before = [bundle, ...listFiles(join(desk.store, 'published'))].map(
      (path) => [path, readFileSync(path)] as const,
    );
    await desk.save('--title', 'Later');
    await desk.ok(run(desk));
    const second = readFileSync(bundle);
    // What a kill leaves after the number was taken and before anything else was written.
    for (const [path, bytes] of before) writeFileSync(path, bytes);
    forgetThatItIsDone(desk);
    await desk.ok(run(desk));
    await other.ok(['import', '--input', bundle]);
    expect(await other.json<unknown[]>(['list'])).toHaveLength(2);
    expect(readFileSync(bundle).equals(second)).toBe(false);
    const sent = listFiles(join(desk.store, 'journal'))
      .flatMap((path) => readFileSync(path, 'utf8').trimEnd().split('\n'))
      .map((line) => JSON.parse(line))
      .filter(({ event }) => event === 'sent');
    expect(sent.map(({ detail }): number => detail.sequence)).toEqual([1, 2, 3]);
  });

  it('replaces its earlier file, and removes leftovers of a killed process', async () => {
    const desk = await makeExportDesk('format = "json"\noutput = "~/out/work.json"\n');
    await desk.ok(run(desk));
    await desk.save('--title', 'Later');
    await desk.ok(run(desk));
    expect(readFileSync(join(desk.out, 'work.json'), 'utf8')).toContain('"title": "Later"');
    expect(readdirSync(desk.out)).toEqual(['work.json']);
  });

  it('does not overwrite other files or links, and continues once they are removed', async () => {
    const desk = await makeExportDesk('format = "json"\noutput = "~/out/work.json"\n');
    const path = join(desk.out, 'work.json');
    writeFileSync(path, 'mine\n');
    const refused = await desk.run([...run(desk), '--json']);
    expect([refused.status, errorCode(refused)]).toEqual([65, 'HANDOVER_PUBLISH_CONFLICT']);
    expect(readFileSync(path, 'utf8')).toBe('mine\n');
    rmSync(path);
    symlinkSync(join(desk.out, 'elsewhere'), path);
    expect((await desk.run(run(desk))).status).not.toBe(0);
    rmSync(path);
    await desk.ok(run(desk));
    writeFileSync(path, 'changed since\n');
    expect((await desk.run(run(desk))).status).toBe(65);
    expect(readFileSync(path, 'utf8')).toBe('changed since\n');
    expect(readdirSync(desk.out)).toEqual(['work.json']);
  });

  it('creates no folder, since the drive may not be mounted', async () => {
    const desk = await makeExportDesk('format = "json"\noutput = "~/drive/work.json"\n');
    expect((await desk.run(run(desk))).status).toBe(66);
    expect(readdirSync(desk.home)).not.toContain('drive');
  });

  it('is refused in a project’s own file, and with options its format lacks', async () => {
    const desk = await makeExportDesk('format = "json"\noutput = "~/out/x"\nrecipients = ["age1x"]\n');
    expect((await desk.run(run(desk))).status).toBe(78);
    writeFileSync(join(desk.project, 'handover.toml'), '[[step]]\nkind = "export"\nformat = "json"\noutput = "x"\n');
    expect((await desk.run(['run'])).status).toBe(77);
    expect(readdirSync(desk.project)).not.toContain('x');
  });
});
