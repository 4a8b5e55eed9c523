import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findListenerOn, findPortOf, findRunning } from '../../src/platform/listeners.ts';
import { makeFolder } from '../support/temp-store.ts';

async function start(code: string, word: string, cwd: string): Promise<ChildProcess & { said: string; id: number }> {
  const child = spawn(process.execPath, ['-e', code, word], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = await once(child.stdout, 'data');
  return Object.assign(child, { said: String(said).trim(), id: child.pid ?? 0 });
}

const WAIT = "console.log('ready'); setInterval(() => {}, 1000)";
const LISTEN = "require('net').createServer().listen(0, '127.0.0.1', function () { console.log(this.address().port) })";

describe.skipIf(process.platform !== 'linux')('a process of a session', () => {
  it('is found by its command in the folder of the session only, and if it is no older than that', async () => {
    const [word, here, other] = [randomBytes(8).toString('hex'), makeFolder(), makeFolder()];
    mkdirSync(join(here, 'src'));
    const sinceMs = Date.now() - 60_000;
    const elsewhere = await start(WAIT, word, other);
    expect(findRunning(word, { folder: here, sinceMs })).toBeNull();
    expect(findRunning(word, { folder: other, sinceMs })?.pid).toBe(elsewhere.id);
    const own = await start(WAIT, word, join(here, 'src'));
    expect(findRunning(word, { folder: here, sinceMs })?.pid).toBe(own.id);
    expect(findRunning(word, { folder: here, sinceMs: Date.now() + 60_000 })).toBeNull();
    for (const child of [own, elsewhere]) child.kill();
  });

  it('is known by the only port that it, or what it started, listens on', async () => {
    const child = `const { spawn } = require('child_process'); spawn(process.execPath, ['-e', ${JSON.stringify(LISTEN)}], { stdio: 'inherit' }); process.on('SIGTERM', () => process.exit())`;
    const [one, parent, none] = await Promise.all([
      start(LISTEN, '', makeFolder()),
      start(child, '', makeFolder()),
      start(WAIT, '', makeFolder()),
    ]);
    expect(findPortOf(one.id)).toMatchObject({ port: Number(one.said), listener: { pid: one.id } });
    const found = findPortOf(parent.id);
    expect(found?.port).toBe(Number(parent.said));
    expect(found?.listener?.pid).not.toBe(parent.id);
    expect(findPortOf(none.id)).toBeNull();
    process.kill(found?.listener?.pid ?? 0);
    for (const process of [one, parent, none]) process.kill();
  });

  it('is told from another one that listens on its port, and from nobody', async () => {
    const [one, other] = await Promise.all([start(LISTEN, '', makeFolder()), start(LISTEN, '', makeFolder())]);
    const port = Number(one.said);
    expect(findListenerOn(port, one.id)).toBe('it');
    expect(findListenerOn(port, other.id)).toBe('another');
    one.kill();
    await once(one, 'exit');
    expect(findListenerOn(port, one.id)).toBe('nobody');
    other.kill();
  });
});
