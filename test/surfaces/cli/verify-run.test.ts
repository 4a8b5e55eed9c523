import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Handover } from '../../../src/model/handover.ts';
import type { Claim } from '../../../src/model/workspace.ts';
import { captureWork } from '../../support/captured-work.ts';
import { makeSandbox, runGit } from '../../support/cli.ts';
import { writeText } from '../../support/transcripts.ts';

interface Verified {
  run?: { saved: string | null; checks: { command: string; outcome: string }[] };
}

describe('verify --run', () => {
  it('runs what ran in a folder of the worktree, and nothing outside of it', async () => {
    const own = makeSandbox();
    mkdirSync(join(own.project, 'sub'));
    for (const folder of [own.project, join(own.project, 'sub'), own.folder])
      writeFileSync(join(folder, 'package.json'), '{"scripts":{"test":"node -e \\"console.log(1)\\""}}');
    runGit(own.project, 'init', '-q');
    writeText(join(own.home, '.config/agent-handover/config.toml'), '[verify]\nrun = ["npm test", "npm run lint"]\n');
    const steps = [
      { ask: 'Test it' },
      { run: 'cd sub && npm test', output: '3 passed' },
      { run: 'cd .. && npm run lint', output: '0 problems' },
    ];
    await captureWork(own, { day: 3, steps });
    const { run } = await own.json<Verified & { run: { left: { command: string }[] } }>(['verify', 'latest', '--run']);
    expect(run.checks.map(({ command, outcome }) => [command, outcome])).toEqual([['npm test', 'passed']]);
    expect(run.left.map(({ command }) => command)).toEqual(['npm run lint']);
  });

  it('says that a check holds which was run again after an edit, until the code changes again', async () => {
    const own = makeSandbox();
    const path = (name: string): string => join(own.project, name);
    const report = "node -e \\\"require('fs').writeFileSync('report.txt', String(Date.now()))\\\"";
    writeFileSync(path('package.json'), `{"scripts":{"test":"${report}","lint":"node -e 1"}}`);
    writeFileSync(path('a.js'), 'a();\n');
    runGit(own.project, 'init', '-q');
    runGit(own.project, 'add', '-A');
    runGit(own.project, 'commit', '-qm', 'Begin');
    writeText(join(own.home, '.config/agent-handover/config.toml'), '[verify]\nrun = ["npm test"]\n');
    const steps = [
      { ask: 'Change it' },
      { edit: 'a.js' },
      { run: 'npm test', output: '3 passed' },
      { run: 'npm run lint', output: '0 problems' },
    ];
    await captureWork(own, { day: 3, steps });
    const readChecks = async (): Promise<unknown[]> => {
      const { claims }: { claims: Claim[] } = JSON.parse((await own.run(['verify', '--json'])).stdout);
      return claims.filter(({ about }) => about === 'check').map(({ what, now }) => [what, now]);
    };
    writeFileSync(path('a.js'), 'b();\n');
    const lint = ['npm run lint: passed', 'files changed since'];
    expect(await readChecks()).toEqual([lint, ['npm test: passed', 'files changed since']]);
    await own.run(['verify', '--run']);
    expect(await readChecks()).toEqual([['npm test: passed', null], lint]);
    expect(await own.ok(['resume'])).toMatch(/^> Checks, run again by hand .*: `npm test` passed\.$/m);
    writeFileSync(path('a.js'), 'c();\n');
    expect(await readChecks()).toEqual([['npm test: passed', 'files changed since'], lint]);
    await own.run(['verify', '--run']);
    expect(await readChecks()).toEqual([['npm test: passed', null], lint]);
  });

  it('saves the redactions of the session as they were', async () => {
    const own = makeSandbox();
    writeFileSync(join(own.project, 'package.json'), '{"scripts":{"test":"node -e \\"console.log(1)\\""}}');
    writeText(join(own.home, '.config/agent-handover/config.toml'), '[verify]\nrun = ["npm test"]\n');
    const steps = [
      { ask: `Use ghp_${randomBytes(18).toString('hex')} for it` },
      { run: 'npm test', output: '3 passed' },
    ];
    const { redactions } = await captureWork(own, { day: 3, steps });
    expect(redactions).not.toEqual([]);
    const { run } = await own.json<Verified>(['verify', 'latest', '--run']);
    expect((await own.json<Handover>(['show', run?.saved ?? ''])).redactions).toEqual(redactions);
  });

  it.each([
    ['', 'node slow.js & wait'],
    [', and began sessions of its own', 'node daemon.js; sleep 600'],
  ])('leaves nothing running of a check that takes too long%s', async (_, script) => {
    const own = makeSandbox();
    const beat = join(own.folder, 'beat');
    writeFileSync(join(own.project, 'package.json'), JSON.stringify({ scripts: { test: script } }));
    writeFileSync(
      join(own.project, 'slow.js'),
      `setInterval(() => require('fs').appendFileSync(${JSON.stringify(beat)}, '.'), 20)`,
    );
    writeFileSync(
      join(own.project, 'daemon.js'),
      "require('child_process').spawn(process.execPath, ['slow.js'], { detached: true, stdio: 'ignore' }).unref()",
    );
    writeText(join(own.home, '.config/agent-handover/config.toml'), '[verify]\nrun = ["npm test"]\n');
    await captureWork(own, { day: 3, steps: [{ ask: 'Test it' }, { run: 'npm test', output: '3 passed' }] });
    // A machine that is busy may take longer than the first limit to start it at all.
    for (const limit of ['3', '25']) {
      const { stdout } = await own.run(['verify', 'latest', '--run', '--timeout', limit, '--json']);
      const { run }: Verified = JSON.parse(stdout);
      expect([run?.saved, run?.checks.map(({ outcome }) => outcome)]).toEqual([null, ['timed out']]);
      if (existsSync(beat)) break;
    }
    const beats = readFileSync(beat, 'utf8').length;
    expect(beats).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(readFileSync(beat, 'utf8')).toHaveLength(beats);
  });

  it('does not wait for what a check left running in a session of its own', async () => {
    const own = makeSandbox();
    const pid = join(own.project, 'pid');
    const daemon = `require('node:child_process').spawn(process.execPath, ['-e', 'setTimeout(() => {}, 600000)'], { detached: true, stdio: 'inherit' })`;
    writeText(
      join(own.project, 'test.cjs'),
      `const child = ${daemon};\nrequire('node:fs').writeFileSync(${JSON.stringify(pid)}, String(child.pid));\nconsole.log('3 passed');\nchild.unref();\nprocess.exit(0);\n`,
    );
    writeFileSync(join(own.project, 'package.json'), '{"scripts":{"test":"node test.cjs"}}');
    writeText(join(own.home, '.config/agent-handover/config.toml'), '[verify]\nrun = ["npm test"]\n');
    await captureWork(own, { day: 3, steps: [{ ask: 'Test it' }, { run: 'npm test', output: '3 passed' }] });
    const { stdout } = await own.run(['verify', 'latest', '--run', '--timeout', '60', '--json']);
    process.kill(Number(readFileSync(pid, 'utf8')));
    const { run }: Verified = JSON.parse(stdout);
    expect(run?.checks.map(({ outcome }) => outcome)).toEqual(['passed']);
  });

  it('does not take a check for failed that it ended because it wrote too much', async () => {
    const own = makeSandbox();
    writeFileSync(join(own.project, 'package.json'), '{"scripts":{"test":"yes | head -c 80000000"}}');
    writeText(join(own.home, '.config/agent-handover/config.toml'), '[verify]\nrun = ["npm test"]\n');
    await captureWork(own, { day: 3, steps: [{ ask: 'Test it' }, { run: 'npm test', output: '3 passed' }] });
    const { stdout } = await own.run(['verify', 'latest', '--run', '--json']);
    const { run }: Verified = JSON.parse(stdout);
    expect([run?.saved, run?.checks.map(({ outcome }) => outcome)]).toEqual([null, ['wrote too much']]);
  });
});
