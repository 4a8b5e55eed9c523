import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Handover } from '../../src/model/handover.ts';
import { HANDOVER, makeSandbox, runGit } from '../support/cli.ts';
import { canTrace, traceCommand } from '../support/strace.ts';
import { listFiles } from '../support/tree.ts';

/* Weaknesses of the older tool of the same name, one test each. */

describe('saving, where agent-handover failed', () => {
  it('AH-12: of 40 processes that save at once, all succeed and all are recorded', async () => {
    const sandbox = makeSandbox();
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, at) =>
        sandbox.run(['save', '--summary', `writer ${at}`, '--json'], { timeoutMs: 60_000 }),
      ),
    );
    expect(results.filter(({ status, stderr }) => status !== 0 || stderr !== '')).toEqual([]);
    const ids = results.map(({ stdout }): string => JSON.parse(stdout).id).sort();
    expect(new Set(ids).size).toBe(40);
    const journal = listFiles(join(sandbox.store, 'journal')).flatMap((path) =>
      readFileSync(path, 'utf8').trimEnd().split('\n'),
    );
    expect(journal.map((line): string => JSON.parse(line).subject).sort()).toEqual(ids);
    const rows = await sandbox.json<{ id: string }[]>(['list']);
    expect(rows.map((row) => row.id).sort()).toEqual(ids);
    expect(await sandbox.ok(['doctor'])).toContain('all is well');
  });

  it('AH-12: concurrent saves, lists and forgets do not interfere', async () => {
    const sandbox = makeSandbox();
    const doomed: string[] = [];
    for (let count = 0; count < 4; count++) doomed.push(await sandbox.save('--summary', `doomed ${count}`));
    const commands = [
      ...doomed.map((id) => ['forget', id]),
      ...Array.from({ length: 8 }, (_, at) => ['save', '--summary', `writer ${at}`]),
      ...Array.from({ length: 8 }, () => ['list']),
    ];
    const results = await Promise.all(commands.map((args) => sandbox.run(args, { timeoutMs: 60_000 })));
    expect(results.filter(({ status }) => status !== 0)).toEqual([]);
    expect(await sandbox.json<unknown[]>(['list'])).toHaveLength(8);
    expect(await sandbox.ok(['doctor'])).toContain('all is well');
  });

  it.runIf(canTrace)('AH-13: file and folder are flushed to the disk when something is forgotten', async () => {
    const sandbox = makeSandbox();
    const id = await sandbox.save('--summary', 'x');
    const { calls, status } = await traceCommand(
      [process.execPath, HANDOVER, 'forget', id],
      'fsync,rename,renameat,renameat2,unlink',
      { cwd: sandbox.project, env: sandbox.env },
    );
    expect(status).toBe(0);
    const moved = calls.findIndex((line) => line.includes('rename') && line.includes(`${id}.json`));
    const after = calls.slice(moved + 1).filter((line) => line.includes('fsync('));
    for (const folder of [/leaving>/, /handovers\/\d{4}\/\d\d>/, /journal\/[^>]+\.jsonl>/]) {
      expect(after.some((line) => folder.test(line))).toBe(true);
    }
  });

  it('AH-13: without git on the PATH a project is saved as a plain folder', async () => {
    const sandbox = makeSandbox();
    runGit(sandbox.project, 'init', '--quiet');
    for (const PATH of ['/nonexistent', '', undefined]) {
      const env = { PATH };
      const { id } = await sandbox.json<{ id: string }>(['save', '--summary', 'x'], { env });
      const { workspace } = await sandbox.json<Handover>(['show', id], { env });
      expect(workspace.git).toBeNull();
      await sandbox.ok(['render'], { env });
      await sandbox.ok(['list', '--project', '.'], { env });
    }
  });

  it('AH-13: no command waits for input', async () => {
    const sandbox = makeSandbox();
    const asked = join(sandbox.folder, 'asked');
    const ask = join(sandbox.folder, 'ask.sh');
    writeFileSync(ask, `#!/bin/sh\ntouch "${asked}"\nsleep 60\n`);
    chmodSync(ask, 0o755);
    runGit(sandbox.project, 'init', '--quiet');
    runGit(sandbox.project, 'remote', 'add', 'origin', 'https://127.0.0.1:1/private.git');
    for (const setting of [
      'core.askPass',
      'core.editor',
      'core.pager',
      'core.fsmonitor',
      'core.sshCommand',
      'credential.helper',
    ])
      runGit(sandbox.project, 'config', setting, ask);
    const env = {
      GIT_ASKPASS: ask,
      SSH_ASKPASS: ask,
      GIT_EDITOR: ask,
      EDITOR: ask,
      PAGER: ask,
      GIT_PAGER: ask,
    };
    for (const args of [['save', '--summary', 'x'], ['list'], ['show'], ['render'], ['doctor']]) {
      expect((await sandbox.run(args, { env, input: null })).status, args.join(' ')).toBe(0);
    }
    expect((await sandbox.run(['select'], { env, input: null })).status).toBe(64);
    expect(existsSync(asked)).toBe(false);
  });
});
