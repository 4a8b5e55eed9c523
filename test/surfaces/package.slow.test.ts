import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '../../src/version.ts';
import { makeSandbox, makeTempFolder, runProcess } from '../support/cli.ts';
import { installPackage, type PackedPackage } from '../support/package.ts';

const prefix = makeTempFolder();
const sandbox = makeSandbox();
let installed: PackedPackage;

beforeAll(() => {
  installed = installPackage(prefix);
});

function run(program: string, ...args: string[]) {
  const { programs } = installed;
  const PATH = `${programs}:${process.env.PATH}`;
  return runProcess([join(programs, program), ...args], { cwd: sandbox.project, env: { ...sandbox.env, PATH } });
}

describe('the package, installed from its tarball', () => {
  it('starts under both names', async () => {
    for (const program of ['handover', 'agent-handover'])
      expect(await run(program, '--version')).toEqual({ status: 0, stdout: `${VERSION}\n`, stderr: '' });
    expect((await run('handover')).stdout).toContain('nothing saved here yet');
  });

  it('sets up an agent, whose hook runs from where it was installed', async () => {
    mkdirSync(join(sandbox.home, '.claude'));
    expect((await run('handover', 'init', '--yes')).status).toBe(0);
    const settings = readFileSync(join(sandbox.home, '.claude', 'settings.json'), 'utf8');
    expect(settings).toContain(join(installed.modules, 'agent-handover', 'bin', 'hook.cjs'));
    const [handler] = JSON.parse(settings).hooks.SessionStart[0].hooks;
    const input = JSON.stringify({ session_id: 's', cwd: sandbox.project, source: 'startup' });
    const { status, stderr } = await runProcess(['sh', '-c', handler.command], { env: sandbox.env, input });
    expect([status, stderr]).toEqual([0, '']);
  });

  it('saves, lists, resumes and hands on', async () => {
    expect((await run('handover', 'save', '--title', 'Packed', '--next', 'Unpack')).status).toBe(0);
    expect((await run('handover', 'list')).stdout).toContain('Packed');
    expect((await run('handover', 'resume')).stdout).toContain('Unpack');
    expect((await run('handover', 'to', 'codex', '--print')).stdout).toContain('Unpack');
    expect((await run('handover', 'doctor')).stdout).toContain('all is well');
  });

  it('writes a report', async () => {
    const { stdout, status } = await run('handover', 'report', '--output', '-');
    expect([status, stdout.includes('"goal":"Packed"')]).toEqual([0, true]);
  });

  it('brings the manual, the completions and the licences of what it contains, and nothing of the tests', () => {
    const own = join(installed.modules, 'agent-handover');
    for (const file of ['completions/handover.bash', 'man/handover.1', 'dist/THIRD-PARTY-LICENSES.txt', 'README.md'])
      expect([file, existsSync(join(own, file))]).toEqual([file, true]);
    for (const file of ['test', 'src', 'dist/internals', 'node_modules'])
      expect([file, existsSync(join(own, file))]).toEqual([file, false]);
    if (process.platform !== 'win32') expect(existsSync(join(prefix, 'share/man/man1/handover.1'))).toBe(true);
  });
});
