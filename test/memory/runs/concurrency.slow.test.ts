import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseNoteFile } from '../../../src/memory/note-file.ts';
import { Checkpoint } from '../../../src/memory/runs/checkpoint.ts';
import { describeMachine } from '../../../src/platform/machine.ts';
import { HANDOVER, makeSandbox, makeTempFolder, runProcess } from '../../support/cli.ts';
import { canTrace, traceCommand } from '../../support/strace.ts';

const LIBRARY = fileURLToPath(new URL('../../../dist/lib/index.mjs', import.meta.url));
const WORKER = fileURLToPath(new URL('./workers/mark-and-note.mjs', import.meta.url));
const PROCESSES = 40;

describe('many concurrent processes', () => {
  it('AH-12: 40 of them on one checkpoint and one memory lose nothing', { timeout: 240_000 }, async () => {
    const folder = makeTempFolder();
    const names = Array.from({ length: PROCESSES }, (_, at) => `step-${at}`);
    const checkpoint = new Checkpoint('.agent-handover/checkpoint.json', describeMachine({ HOME: folder }, folder));
    checkpoint.start(names);
    mkdirSync(join(folder, 'ready'));
    const results = await Promise.all(
      names.map((name) =>
        runProcess([process.execPath, WORKER, LIBRARY, folder, name, String(PROCESSES)], {
          timeoutMs: 100_000,
        }),
      ),
    );
    expect(results.filter(({ status }) => status !== 0)).toEqual([]);
    expect(checkpoint.pendingSteps()).toEqual([]);
    const [month = ''] = readdirSync(join(folder, 'memory', 'layer1'));
    const [day = ''] = readdirSync(join(folder, 'memory', 'layer1', month));
    const { notes } = parseNoteFile(readFileSync(join(folder, 'memory', 'layer1', month, day), 'utf8'));
    expect(notes.map(({ text }) => text).sort()).toEqual(names.map((name) => `note of ${name}`).sort());
    const layer2 = join(folder, 'memory', 'layer2');
    const states = [
      join(layer2, 'current-state.md'),
      ...readdirSync(join(layer2, 'history')).map((name) => join(layer2, 'history', name)),
    ].flatMap((path) => parseNoteFile(readFileSync(path, 'utf8')).notes.map(({ text }) => text));
    expect(states.sort()).toEqual(names.map((name) => `state of ${name}`).sort());
  });
});

describe('AH-13: writing memory and checkpoints', () => {
  it.runIf(canTrace)('flushes every file before it gets its name, and its folder after', async () => {
    const sandbox = makeSandbox();
    const args = [process.execPath, HANDOVER, 'run', '--note', 'x'];
    const { status, calls } = await traceCommand(args, 'fsync,?rename,?renameat,?renameat2', {
      cwd: sandbox.project,
      env: sandbox.env,
    });
    expect(status).toBe(0);
    const renames = calls
      .map((line, at) => ({ at, to: /rename.*"([^"]+\.(?:md|json))"\) += 0$/.exec(line)?.[1] }))
      .filter(({ to }) => to !== undefined);
    expect(renames.length).toBeGreaterThan(4);
    for (const { at, to = '' } of renames) {
      const folder = to.slice(0, to.lastIndexOf('/'));
      expect(calls[at - 1], to).toMatch(/fsync\(\d+<.*\.tmp>\) += 0$/);
      expect(calls[at + 1], to).toContain(`<${folder}>)`);
    }
  });

  it('works when git is not on the PATH', async () => {
    const sandbox = makeSandbox();
    const env = { PATH: '/nowhere' };
    const result = await sandbox.run(['run', '--note', 'x'], { env });
    expect(result).toMatchObject({ status: 0, stderr: '' });
    expect((await sandbox.run(['snapshot', '--stdout'], { env })).stdout).toContain('- **Git**: none');
  });
});
