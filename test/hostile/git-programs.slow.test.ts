import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Handover } from '../../src/model/handover.ts';
import { inPairs, makeSandbox, runGit, runProcess, type Sandbox } from '../support/cli.ts';
import { startAgent, waitForWorkers, writeSession, writeWork } from '../support/hooks.ts';
import { configure, writeIn } from '../support/publishing.ts';

/** Every setting of git that names a program, as its documentation has it, with how a value makes git start one. */
const PROGRAM_KEYS: Record<string, (trap: string) => string> = {
  'alias.log': (trap) => `!${trap}`,
  'alias.rev-parse': (trap) => `!${trap}`,
  'alias.status': (trap) => `!${trap}`,
  'browser.evil.cmd': String,
  'browser.evil.path': String,
  'core.alternateRefsCommand': String,
  'core.askPass': String,
  'core.editor': String,
  'core.fsmonitor': String,
  'core.gitProxy': String,
  'core.pager': String,
  'core.sshCommand': String,
  'credential.helper': (trap) => `!${trap}`,
  'credential.https://example.invalid.helper': (trap) => `!${trap}`,
  'diff.evil.command': String,
  'diff.evil.textconv': String,
  'diff.external': String,
  'difftool.evil.cmd': String,
  'difftool.evil.path': String,
  'filter..clean': String,
  'filter..process': String,
  'filter..smudge': String,
  'filter.evil.clean': String,
  'filter.evil.process': String,
  'filter.evil.smudge': String,
  'filter.a=b.clean': String,
  'gc.recentObjectsHook': String,
  'gpg.openpgp.program': String,
  'gpg.program': String,
  'gpg.ssh.defaultKeyCommand': String,
  'gpg.ssh.program': String,
  'gpg.x509.program': String,
  'guitool.evil.cmd': String,
  'help.browser': String,
  'hook.evil.command': String,
  'imap.tunnel': String,
  'instaweb.browser': String,
  'instaweb.httpd': String,
  'interactive.diffFilter': String,
  'man.evil.cmd': String,
  'man.evil.path': String,
  'man.viewer': String,
  'merge.evil.driver': String,
  'mergetool.evil.cmd': String,
  'mergetool.evil.path': String,
  'pager.config': String,
  'pager.log': String,
  'pager.status': String,
  'remote.origin.receivepack': String,
  'remote.origin.uploadpack': String,
  'remote.origin.url': (trap) => `ext::${trap}`,
  'remote.origin.vcs': () => 'ext',
  'sendemail.ccCmd': String,
  'sendemail.headerCmd': String,
  'sendemail.sendmailCmd': String,
  'sendemail.toCmd': String,
  'sequence.editor': String,
  'submodule.evil.update': (trap) => `!${trap}`,
  'tar.evil.command': String,
  'trailer.evil.cmd': String,
  'trailer.evil.command': String,
  'uploadpack.packObjectsHook': String,
  'web.browser': String,
};

/** Their names sound like it, but they name no program. */
const NO_PROGRAMS = [
  ...['advice.ignoredHook', 'advice.waitingForEditor', 'color.pager', 'column.clean', 'credential.useHttpPath'],
  ...['fsck.gitmodulesPath', 'gitcvs.dbDriver', 'http.proxy', 'remote.<name>.proxy', 'notes.rewrite.<command>'],
  'diff.<driver>.cachetextconv',
];
const SOUNDS_LIKE_A_PROGRAM =
  /(?:cmd|command|program|driver|helper|hook|editor|pager|proxy|external|textconv|clean|smudge|process|askpass|fsmonitor|browser|httpd|uploadpack|receivepack|viewer|tunnel|difffilter|vcs)>?$/i;

/** Settings that make git look at more, so that more of the others could be asked for. */
const LURES: Record<string, string> = {
  'log.showSignature': 'true',
  'log.diffMerges': 'on',
  'status.submoduleSummary': 'true',
  'diff.tool': 'evil',
  'merge.tool': 'evil',
  'hook.evil.event': 'post-index-change',
  'filter.evil.required': 'true',
  'filter..required': 'true',
};

const HOOKS = ['post-index-change', 'reference-transaction', 'fsmonitor-watchman', 'pre-push', 'pre-auto-gc'];

const COMMANDS = [
  ['save', '--summary', 'work'],
  ['capture', '--agent', 'claude-code'],
  ['resume'],
  ['restore'],
  ['render'],
  ['list', '--status'],
  ['show'],
  ['search', 'work'],
  ['search', '--sessions', 'work'],
  ['sessions'],
  ['why', 'evil.txt'],
  ['errors', 'failed'],
  ['files'],
  ['timeline'],
  ['debt'],
  ['init', '--yes'],
  ['hooks', 'status'],
  ['snapshot'],
  ['auto'],
  ['compact'],
  ['run'],
  ['check'],
  ['status'],
  ['doctor'],
  ['debug'],
  ['push', '--dry-run'],
  ['export', '--output', 'out.bundle'],
];

interface Hostile {
  sandbox: Sandbox;
  plant(keys: readonly string[]): void;
  fired(): string[];
}

function makeHostile(): Hostile {
  const sandbox = makeSandbox();
  const { project, folder } = sandbox;
  const [traps, markers] = [join(folder, 'traps'), join(folder, 'markers')];
  for (const path of [traps, markers]) mkdirSync(path);
  const makeTrap = (name: string): string => {
    const file = join(traps, name.replace(/[^\w.-]/g, '_'));
    writeFileSync(file, `#!/bin/sh\n: > '${join(markers, name.replace(/[^\w.-]/g, '_'))}'\nexec cat\n`);
    chmodSync(file, 0o755);
    return file;
  };
  runGit(project, 'init', '--quiet');
  const files = ['empty.txt', 'evil.txt', 'a=b.txt'];
  for (const name of files) writeFileSync(join(project, name), `${name}\n`);
  runGit(project, 'add', '--all');
  runGit(project, 'commit', '--quiet', '-m', 'Files');
  const attributes = '* diff=evil merge=evil\nempty.txt filter=\nevil.txt filter=evil\na?b.txt filter=a=b\n';
  for (const path of ['.gitattributes', '.git/info/attributes']) writeFileSync(join(project, path), attributes);
  return {
    sandbox,
    plant: (keys) => {
      const sections = keys.map((key) => {
        const [, section = '', name, last = ''] = /^(\w+)(?:\.(.*))?\.([\w-]+)$/.exec(key) ?? [];
        const value = PROGRAM_KEYS[key]?.(makeTrap(key)) ?? LURES[key];
        return `[${section}${name === undefined ? '' : ` "${name}"`}]\n\t${last} = "${value}"\n`;
      });
      appendFileSync(join(project, '.git', 'config'), sections.join(''));
      for (const hook of HOOKS) {
        writeFileSync(join(project, '.git', 'hooks', hook), `#!/bin/sh\n: > '${join(markers, `hook-${hook}`)}'\n`);
        chmodSync(join(project, '.git', 'hooks', hook), 0o755);
      }
      for (const name of files) utimesSync(join(project, name), 1_000_000_000, 1_000_000_000);
    },
    fired: () => readdirSync(markers).sort(),
  };
}

describe.skipIf(process.platform === 'win32')('the programs that a repository names in its git configuration', () => {
  let hostile: Hostile;
  beforeAll(() => {
    hostile = makeHostile();
    hostile.plant([...Object.keys(LURES), ...Object.keys(PROGRAM_KEYS)]);
  });

  it('are all in the table that the installed git documents', () => {
    const keys = execFileSync('git', ['help', '-c'], { encoding: 'utf8' }).split('\n');
    const inTable = Object.keys(PROGRAM_KEYS).map((key) =>
      key.replace(/^(\w+)\..*\.([^.]+)$/, '$1.*.$2').toLowerCase(),
    );
    const isKnown = (key: string): boolean =>
      inTable.includes(key.replace(/<[^>]*>/, '*').toLowerCase()) ||
      inTable.includes(key.toLowerCase()) ||
      Object.hasOwn(PROGRAM_KEYS, key) ||
      key.startsWith('pager.');
    const unknown = keys.filter(
      (key) => SOUNDS_LIKE_A_PROGRAM.test(key) && !NO_PROGRAMS.includes(key) && !isKnown(key),
    );
    expect(unknown).toEqual([]);
  });

  it('are started by an unprotected git (checks the test itself)', async () => {
    const other = makeHostile();
    other.plant(['filter..clean', 'filter.evil.clean', 'filter.a=b.clean', 'core.fsmonitor', 'diff.evil.textconv']);
    const { project: cwd, env } = other.sandbox;
    await runProcess(['git', 'status'], { cwd, env });
    await runProcess(['git', 'log', '-p'], { cwd, env });
    expect(other.fired()).toEqual(
      expect.arrayContaining(['filter..clean', 'filter.evil.clean', 'filter.a_b.clean', 'core.fsmonitor']),
    );
  });

  it('are not started by any hook, nor by the worker after it', async () => {
    const { sandbox } = hostile;
    const session = writeSession(sandbox);
    writeWork(session, { goal: 'Do the work', file: join(sandbox.project, 'new.txt'), decision: 'We use files.' });
    const agent = startAgent(sandbox);
    for (const event of ['SessionStart', 'UserPromptSubmit', 'Stop', 'PreCompact', 'SessionEnd'])
      await agent.call(event, session.input({ source: 'startup', prompt: 'Go on', hook_event_name: event }));
    await waitForWorkers(sandbox);
    await agent.end();
    expect(hostile.fired()).toEqual([]);
    expect(await sandbox.ok(['list'])).toContain('Do the work');
  });

  it.each(COMMANDS)('are not started by handover %s %s', async (...args) => {
    const { sandbox } = hostile;
    const { status } = await sandbox.run(args.filter((word) => word !== undefined));
    expect(status).not.toBe(64);
    expect(hostile.fired()).toEqual([]);
  });

  it('are not started by a push that commits and contacts no remote', async () => {
    const { sandbox } = hostile;
    configure(sandbox, '[publish]\nbackend = "git"\n[publish.git]\npush = false\n');
    writeIn(sandbox.home, '.gitconfig', '[user]\nname = Ada\nemail = ada@example.invalid\n');
    writeIn(sandbox.project, 'memory/layer1/2026-11/work-2026-11-15.md', 'a note\n');
    await sandbox.ok(['push']);
    expect(hostile.fired()).toEqual([]);
    const log = ['-c', 'core.fsmonitor=false', '-c', 'log.showSignature=false', 'log', '-1', '--format=%s'];
    expect(runGit(sandbox.project, ...log)).toContain('memory');
  });

  it('are not started by a save when each stands alone', async () => {
    const fired = await inPairs(Object.keys(PROGRAM_KEYS), async (key) => {
      const alone = makeHostile();
      alone.plant([...Object.keys(LURES), key]);
      const id = await alone.sandbox.save('--summary', 'x');
      const { workspace } = await alone.sandbox.json<Handover>(['show', id]);
      // All but the attributes is committed, and its times alone are changed.
      expect([key, workspace.git?.untracked, workspace.git?.changed_total]).toEqual([key, ['.gitattributes'], 1]);
      return alone.fired();
    });
    expect(fired.flat()).toEqual([]);
  });
});
