import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import { describe, expect, it } from 'vitest';
import { offerTask } from '../../../src/exchange/remote/custody.ts';
import { openFolderBlobs } from '../../../src/exchange/remote/folder-blobs.ts';
import { GRACE_MS, openObjectRegister } from '../../../src/exchange/remote/object-register.ts';
import { describeMachine } from '../../../src/platform/machine.ts';
import { makeTempFolder } from '../../support/cli.ts';
import { type Call, judgeHistory, recordCalls } from '../../support/custody-history.ts';
import { nameTask, PROJECT, tryFleet } from '../../support/fleet.ts';

const seed = Math.floor(Math.random() * 2 ** 31);
process.stdout.write(`fleet: seed ${seed}\n`);

describe('a fleet of 64 workers on a shared folder', () => {
  it('does each of 400 tasks once, by one holder at a time, though workers are killed and oversleep', async () => {
    const folder = makeTempFolder();
    const { result, wrong } = await tryFleet({ workers: 64, tasks: 400, seed }, (_, clock) => {
      const machine = { ...describeMachine(), clock };
      return openObjectRegister(openFolderBlobs(folder, machine), { machine, triesCreation: false });
    });
    const { calls, killed, late } = result;
    process.stdout.write(`fleet: ${calls.length} calls, ${killed} killed, ${late.tried} late writes refused\n`);
    expect(wrong).toEqual([]);
    expect(killed).toBeGreaterThan(20);
    expect(late.tried).toBeGreaterThan(20);
  }, 600_000);
});

const TASKS = 60;
const WORKERS = 6;

describe('a fleet of processes', () => {
  it('does each task once, by one holder at a time, though processes are killed at any point', async () => {
    const [folder, logs] = [makeTempFolder(), makeTempFolder()];
    const program = join(logs, 'fleet-worker.mjs');
    const input = fileURLToPath(new URL('./workers/fleet-worker.ts', import.meta.url));
    await build({ input, platform: 'node', output: { file: program, format: 'esm' }, logLevel: 'warn' });
    const calls: Call[] = [];
    const machine = { ...describeMachine(), clock: { now: () => Number(process.hrtime.bigint() / 1000n) } };
    const plain = openObjectRegister(openFolderBlobs(folder, machine), { machine, triesCreation: false });
    const tick = (): number => Number(process.hrtime.bigint());
    const register = recordCalls(plain, { worker: 'boss', tick, note: (call) => void calls.push(call) });
    const by = { writer: 'f'.repeat(32), name: 'boss' };
    for (let index = 0; index < TASKS; index++)
      await offerTask(register, { task: nameTask(index), project: PROJECT, by, to: null, label: null });

    const written: string[] = [];
    const running = new Set<ChildProcess>();
    let killed = 0;
    let isOver = false;
    const start = (): void => {
      const log = join(logs, `${written.length}.jsonl`);
      writeFileSync(log, '');
      const args = [program, folder, log, written.push(log), seed, TASKS].map(String);
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
      running.add(child);
      child.once('exit', (_, signal) => {
        running.delete(child);
        isOver ||= signal !== 'SIGKILL';
        if (signal !== 'SIGKILL') return;
        killed++;
        start();
      });
    };
    for (let worker = 0; worker < WORKERS; worker++) start();
    for (let turn = 0; !isOver && turn < 30; turn++) {
      await delay(200 + Math.random() * 600);
      [...running][Math.floor(Math.random() * running.size)]?.kill('SIGKILL');
    }
    while (running.size > 0) await Promise.race([...running].map((child) => once(child, 'exit')));

    const lates = written.flatMap((log) => readLog(log, calls));
    const late = lates.reduce((sum, { tried }) => sum + tried, 0);
    process.stdout.write(`fleet of processes: ${calls.length} calls, ${killed} killed, ${late} late writes refused\n`);
    expect(judgeHistory(calls, { graceMs: GRACE_MS })).toEqual([]);
    expect(lates.filter(({ accepted }) => accepted > 0)).toEqual([]);
    for (let index = 0; index < TASKS; index++) expect((await plain.read(nameTask(index)))?.state).toBe('done');
    expect(killed).toBeGreaterThan(5);
  }, 300_000);
});

/** Adds its calls to the others. A killed process may leave half a line. */
function readLog(path: string, calls: Call[]): { tried: number; accepted: number }[] {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.flatMap((line) => {
    const parsed = JSON.parse(line);
    if ('late' in parsed) return [parsed.late];
    calls.push(parsed);
    return [];
  });
}
