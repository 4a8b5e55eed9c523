import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Checkpoint } from '../../../src/memory/runs/checkpoint.ts';
import { errorCode, makeSandbox, type Sandbox } from '../../support/cli.ts';
import { listFiles } from '../../support/tree.ts';

interface ExportSandbox extends Sandbox {
  out: string;
  declared: string;
}

/** A sandbox with one handover, a folder for exports, and a run that exports, declared by its user. */
async function makeExportSandbox(step: string): Promise<ExportSandbox> {
  const sandbox = makeSandbox();
  await sandbox.save('--title', 'Retries', '--summary', `seen in ${sandbox.home}/shop`, '--next', 'Write the test');
  const folder = join(sandbox.home, '.config', 'agent-handover');
  mkdirSync(folder, { recursive: true });
  const out = join(sandbox.home, 'out');
  mkdirSync(out);
  const declared = join(folder, 'out.toml');
  writeFileSync(declared, `[[step]]\nkind = "export"\n${step}`);
  return { ...sandbox, out, declared };
}

const run = (sandbox: ExportSandbox): string[] => ['run', '--config', sandbox.declared];

/** As if the process had ended before it recorded that the step was done. */
function forgetThatItIsDone(sandbox: Sandbox): void {
  const path = join(sandbox.project, '.agent-handover', 'checkpoint.json');
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
    const sandbox = await makeExportSandbox(`format = "${format}"\noutput = "~/out/work"\n${more}`);
    expect(await sandbox.ok(run(sandbox))).toBe('handover steps executed: export\n');
    const text = readFileSync(join(sandbox.out, 'work'), 'utf8');
    expect(text).toContain(expected);
    expect(text).not.toContain(sandbox.home);
    expect(statSync(join(sandbox.out, 'work')).mode & 0o777).toBe(0o600);
    const { run: details } = new Checkpoint(undefined, sandbox.machine).load();
    expect(details?.steps.get('export')?.effect).toBe('~/out/work');
  });

  it('writes a bundle that only its recipient can open', async () => {
    const other = makeSandbox();
    await other.ok(['keys', 'generate', '--name', 'bo']);
    const { recipient } = await other.json<{ recipient: string }>(['keys', 'export']);
    const sandbox = await makeExportSandbox(
      `format = "bundle"\noutput = "~/out/work.handover"\nsign = true\nrecipients = ["${recipient}"]\n`,
    );
    await sandbox.ok(['keys', 'generate', '--name', 'ada']);
    await sandbox.ok(run(sandbox));
    const bundle = join(sandbox.out, 'work.handover');
    const { public_key } = await sandbox.json<{ public_key: string }>(['keys', 'export']);
    expect((await sandbox.run(['import', '--input', bundle, '--json'])).status).not.toBe(0);
    await other.ok(['keys', 'trust', public_key, '--name', 'ada']);
    await other.ok(['import', '--input', bundle]);
    expect(await other.json<unknown[]>(['list'])).toHaveLength(1);
  });

  it('is executed once, though its completion was not recorded', async () => {
    const sandbox = await makeExportSandbox('format = "bundle"\noutput = "~/out/work.handover"\n');
    await sandbox.ok(run(sandbox));
    const { ino } = statSync(join(sandbox.out, 'work.handover'));
    forgetThatItIsDone(sandbox);
    await sandbox.ok(run(sandbox));
    expect(statSync(join(sandbox.out, 'work.handover')).ino).toBe(ino);
  });

  it('skips the number of a bundle that was never written, and the receiver accepts the next', async () => {
    const other = makeSandbox();
    const sandbox = await makeExportSandbox('format = "bundle"\noutput = "~/out/work.handover"\nsign = true\n');
    await sandbox.ok(['keys', 'generate', '--name', 'ada']);
    const { public_key } = await sandbox.json<{ public_key: string }>(['keys', 'export']);
    await other.ok(['keys', 'trust', public_key, '--name', 'ada']);
    const bundle = join(sandbox.out, 'work.handover');
    await sandbox.ok(run(sandbox));
    await other.ok(['import', '--input', bundle]);
    const before = [bundle, ...listFiles(join(sandbox.store, 'published'))].map(
      (path) => [path, readFileSync(path)] as const,
    );
    await sandbox.save('--title', 'Later');
    await sandbox.ok(run(sandbox));
    const second = readFileSync(bundle);
    // What a kill leaves after the number was taken and before anything else was written.
    for (const [path, bytes] of before) writeFileSync(path, bytes);
    forgetThatItIsDone(sandbox);
    await sandbox.ok(run(sandbox));
    await other.ok(['import', '--input', bundle]);
    expect(await other.json<unknown[]>(['list'])).toHaveLength(2);
    expect(readFileSync(bundle).equals(second)).toBe(false);
    const sent = listFiles(join(sandbox.store, 'journal'))
      .flatMap((path) => readFileSync(path, 'utf8').trimEnd().split('\n'))
      .map((line) => JSON.parse(line))
      .filter(({ event }) => event === 'sent');
    expect(sent.map(({ detail }): number => detail.sequence)).toEqual([1, 2, 3]);
  });

  it('replaces its earlier file, and removes leftovers of a killed process', async () => {
    const sandbox = await makeExportSandbox('format = "json"\noutput = "~/out/work.json"\n');
    await sandbox.ok(run(sandbox));
    await sandbox.save('--title', 'Later');
    await sandbox.ok(run(sandbox));
    expect(readFileSync(join(sandbox.out, 'work.json'), 'utf8')).toContain('"title": "Later"');
    expect(readdirSync(sandbox.out)).toEqual(['work.json']);
  });

  it('does not overwrite other files or links, and continues once they are removed', async () => {
    const sandbox = await makeExportSandbox('format = "json"\noutput = "~/out/work.json"\n');
    const path = join(sandbox.out, 'work.json');
    writeFileSync(path, 'mine\n');
    const refused = await sandbox.run([...run(sandbox), '--json']);
    expect([refused.status, errorCode(refused)]).toEqual([65, 'HANDOVER_PUBLISH_CONFLICT']);
    expect(readFileSync(path, 'utf8')).toBe('mine\n');
    rmSync(path);
    symlinkSync(join(sandbox.out, 'elsewhere'), path);
    expect((await sandbox.run(run(sandbox))).status).not.toBe(0);
    rmSync(path);
    await sandbox.ok(run(sandbox));
    writeFileSync(path, 'changed since\n');
    expect((await sandbox.run(run(sandbox))).status).toBe(65);
    expect(readFileSync(path, 'utf8')).toBe('changed since\n');
    expect(readdirSync(sandbox.out)).toEqual(['work.json']);
  });

  it('creates no folder, since the drive may not be mounted', async () => {
    const sandbox = await makeExportSandbox('format = "json"\noutput = "~/drive/work.json"\n');
    expect((await sandbox.run(run(sandbox))).status).toBe(66);
    expect(readdirSync(sandbox.home)).not.toContain('drive');
  });

  it('is refused in a project’s own file, and with options its format lacks', async () => {
    const sandbox = await makeExportSandbox('format = "json"\noutput = "~/out/x"\nrecipients = ["age1x"]\n');
    expect((await sandbox.run(run(sandbox))).status).toBe(78);
    writeFileSync(join(sandbox.project, 'handover.toml'), '[[step]]\nkind = "export"\nformat = "json"\noutput = "x"\n');
    expect((await sandbox.run(['run'])).status).toBe(77);
    expect(readdirSync(sandbox.project)).not.toContain('x');
  });
});
