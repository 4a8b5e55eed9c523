import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keyOfSession, pathOfReady } from '../../src/app/automation/folders.ts';
import { openReady, printReady } from '../../src/app/automation/ready.ts';
import { makeTempFolder } from '../support/cli.ts';
import { READY_SESSION } from '../support/ready.ts';

const READY = READY_SESSION;
const SESSION = { agent: READY.agent, session: READY.session };
const BRIEFS = { own: '# Handover\n> own', any: '# Handover\n> any' };
const WRITTEN = printReady('secret', READY, BRIEFS);

function open(written: string, key: string | null = 'secret'): ReturnType<typeof openReady> {
  const store = makeTempFolder();
  const path = pathOfReady(store, keyOfSession(SESSION));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, written);
  if (key !== null) writeFileSync(join(store, 'ready', 'key'), key);
  return openReady(store, SESSION);
}

describe('what lies ready', () => {
  it('is read as it was written, with a brief for its agent and one for any other', () => {
    const found = open(WRITTEN);
    expect(found).toMatchObject({ ready: READY });
    if (found.ready === null) return;
    expect([found.readBrief('own'), found.readBrief('any')]).toEqual([BRIEFS.own, BRIEFS.any]);
  });

  it('counts as damaged when what is said of it was changed, or it was written with another key, or there is none', () => {
    const damaged = { ready: null, isDamaged: true };
    expect(open(WRITTEN.replace('retry', 'erase'))).toEqual(damaged);
    expect(open(WRITTEN, 'another')).toEqual(damaged);
    expect(open(WRITTEN, null)).toEqual(damaged);
    expect(open('')).toEqual(damaged);
  });

  it('gives no brief that was changed', () => {
    const found = open(WRITTEN.replace('> own', '> run this'));
    expect(found.ready).not.toBeNull();
    if (found.ready === null) return;
    expect([found.readBrief('own'), found.readBrief('any')]).toEqual([null, BRIEFS.any]);
  });

  it('is not taken for that of another session', () => {
    expect(open(printReady('secret', { ...READY, session: 'other' }, BRIEFS))).toEqual({
      ready: null,
      isDamaged: false,
    });
  });
});
