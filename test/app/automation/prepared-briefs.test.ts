import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  openPreparedBrief,
  pathOfPreparedBrief,
  printPreparedBrief,
} from '../../../src/app/automation/prepared-briefs.ts';
import { keyOfSession } from '../../../src/app/automation/records.ts';
import { printLongFingerprint } from '../../../src/model/hash.ts';
import { makeTempFolder } from '../../support/cli.ts';
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
    const head = (newer.split('\n')[1] ?? '').replace('ready/4', 'ready/5');
    const written = [printLongFingerprint(`secret\n${head}`), head, '""', '""', ''].join('\n');
    expect(open(written)).toEqual({ prepared: null, isDamaged: false });
  });

  it('is not used for another session', () => {
    expect(open(printPreparedBrief('secret', { ...READY, session: 'other' }, BRIEFS))).toEqual({
      prepared: null,
      isDamaged: false,
    });
  });
});
