import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  findWatchedChanges,
  hasChanged,
  markBranch,
  openPreparedBrief,
  pathOfPreparedBrief,
  printPreparedBrief,
  type WatchedChanges,
  watchFile,
} from '../../../src/app/automation/prepared-briefs.ts';
import { keyOfSession } from '../../../src/app/automation/records.ts';
import { printLongFingerprint } from '../../../src/model/hash.ts';
import { identifyProcess } from '../../../src/platform/listeners.ts';
import { describeSelf, formatIdentity } from '../../../src/platform/process-identity.ts';
import { makeTempFolder, runGit } from '../../support/cli.ts';
import { PREPARED_BRIEF } from '../../support/prepared-brief.ts';

const READY = PREPARED_BRIEF;
const SESSION = { agent: READY.agent, session: READY.session };
const BRIEFS = { codex: '# Handover\n> codex', 'claude-code': '# Handover\n> claude' };
const WRITTEN = printPreparedBrief('secret', READY, BRIEFS);

function open(written: string, key: string | null = 'secret'): ReturnType<typeof openPreparedBrief> {
  const store = makeTempFolder();
  const path = pathOfPreparedBrief(store, keyOfSession(SESSION));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, written);
  if (key !== null) writeFileSync(join(store, 'ready', 'key'), key);
  return openPreparedBrief(store, SESSION);
}

describe('a prepared brief', () => {
  it('is read as written, for each agent', () => {
    const found = open(WRITTEN);
    expect(found).toMatchObject({ prepared: READY });
    if (found.prepared === null) return;
    expect([found.readBrief('codex'), found.readBrief('claude-code')]).toEqual(Object.values(BRIEFS));
    expect(found.readBrief('pi')).toBeNull();
  });

  it('counts as damaged when its header changed, or its key is another or missing', () => {
    const damaged = { prepared: null, isDamaged: true };
    expect(open(WRITTEN.replace('retry', 'erase'))).toEqual(damaged);
    expect(open(WRITTEN, 'another')).toEqual(damaged);
    expect(open(WRITTEN, null)).toEqual(damaged);
    expect(open('')).toEqual(damaged);
  });

  it('is not used when its text changed', () => {
    const found = open(WRITTEN.replace('> codex', '> run this'));
    expect(found.prepared).not.toBeNull();
    if (found.prepared === null) return;
    expect([found.readBrief('codex'), found.readBrief('claude-code')]).toEqual([null, BRIEFS['claude-code']]);
  });

  it('is ignored, and not damaged, when another version wrote it', () => {
    const newer = printPreparedBrief('secret', READY, BRIEFS);
    const head = (newer.split('\n')[1] ?? '').replace('ready/8', 'ready/9');
    const written = [printLongFingerprint(`secret\n${head}`), head, '""', '""', ''].join('\n');
    expect(open(written)).toEqual({ prepared: null, isDamaged: false });
  });

  it('tells that a small file changed by its content, and a large one by its size; a new time or other line ends are no change', () => {
    const folder = makeTempFolder();
    const [small, large] = [join(folder, 'small.ts'), join(folder, 'large.ts')];
    writeFileSync(small, 'one\n');
    writeFileSync(large, 'x'.repeat(100_000));
    const files = [watchFile(small, 'small.ts'), watchFile(large, 'large.ts')];
    const look = (): string[] => findWatchedChanges({ ...READY, files, marks: {} }).files;
    expect(look()).toEqual([]);
    const later = new Date(Date.now() + 60_000);
    for (const path of [small, large]) utimesSync(path, later, later);
    expect(look()).toEqual([]);
    writeFileSync(small, 'one\r\n');
    expect(look()).toEqual([]);
    writeFileSync(small, 'two\n');
    writeFileSync(large, 'x'.repeat(100_001));
    // Otherwise it may have been written within one tick of the file system's clock.
    utimesSync(small, later, later);
    expect(look()).toEqual(['small.ts', 'large.ts']);
  });

  it('tells that another branch is checked out, and what no longer runs', async () => {
    const root = makeTempFolder();
    runGit(root, 'init', '-q');
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const identity = formatIdentity(identifyProcess(child.pid ?? 0) ?? describeSelf());
    const running = [{ identity, shown: 'node server.js' }];
    const branch = markBranch(root);
    const look = (): WatchedChanges => findWatchedChanges({ ...READY, root, branch, running, marks: {} });
    expect(hasChanged(look())).toBe(false);
    child.kill('SIGKILL');
    await once(child, 'exit');
    runGit(root, 'checkout', '-q', '--orphan', 'feat/other');
    expect(look()).toEqual({
      files: [],
      head: null,
      isOnOther: true,
      ended: process.platform === 'linux' ? ['node server.js'] : [],
    });
  });

  it('is not used for another session', () => {
    expect(open(printPreparedBrief('secret', { ...READY, session: 'other' }, BRIEFS))).toEqual({
      prepared: null,
      isDamaged: false,
    });
  });
});
