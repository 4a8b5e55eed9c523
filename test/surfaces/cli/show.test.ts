import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../../src/store/store.ts';
import { errorCode, makeSandbox, makeTempFolder } from '../../support/cli.ts';
import { saveSample } from '../../support/samples.ts';

const sandbox = makeSandbox();
let old: string[] = [];
let newest = { id: '', path: '' };

beforeAll(async () => {
  const store = openStore({ ...sandbox.machine, clock: { now: () => Date.UTC(2026, 0, 31, 12) } });
  old = Array.from({ length: 12 }, (_, at) => saveSample(store, { title: `old ${at}` }).id);
  newest = await sandbox.json(['save', '--title', 'Newest', '--summary', 'A summary', '--next', 'Go on\nand on']);
});

describe('handover show', () => {
  it('shows all of a handover as text', async () => {
    const text = await sandbox.ok(['show', newest.id]);
    expect(text).toMatch(
      /^Newest\nid {7}\d{8}-\d{6}-\w{4}\ncreated {2}\S+Z\nagent {4}manual\nproject {2}project \(p-\w{16}\)\nfolder {3}\S+\n/,
    );
    expect(text).toContain('\n\nA summary\n\nnext\n- Go on  (declared, human, f-');
    expect(text).toContain('\n  and on\n');
  });

  it('prints the sealed record as JSON', async () => {
    const text = await sandbox.ok(['show', newest.id, '--json']);
    expect(text).toBe(readFileSync(newest.path, 'utf8'));
    expect(Object.keys(JSON.parse(text))).toEqual([
      'schema',
      'id',
      'created_at',
      'expires_at',
      'project',
      'session',
      'workspace',
      'title',
      'summary',
      'facts',
      'previous',
      'quality',
      'redactions',
      'checksum',
    ]);
  });

  it('accepts an id, an id prefix, latest, or nothing, as argument or --id', async () => {
    for (const args of [
      [],
      ['latest'],
      ['LATEST'],
      [newest.id],
      [` ${newest.id.toUpperCase()} `],
      [newest.id.slice(0, 8)],
      ['--id', newest.id],
    ]) {
      expect((await sandbox.json<{ id: string }>(['show', ...args])).id, args.join()).toBe(newest.id);
    }
  });

  it('lists the candidates of an ambiguous id prefix', async () => {
    const result = await sandbox.run(['show', '20260131', '--json']);
    expect([result.status, errorCode(result)]).toEqual([64, 'HANDOVER_ID_AMBIGUOUS']);
    const { error }: { error: { candidates: string[] } } = JSON.parse(result.stderr);
    expect(error.candidates).toEqual(old.toReversed().slice(0, 10));
    const { stderr } = await sandbox.run(['show', '20260131']);
    for (const id of error.candidates) expect(stderr).toContain(id);
    expect(stderr).toContain('…');
    expect(stderr).toContain('next: ');
  });

  it('shows the latest of all projects where this one has none, and says so', async () => {
    const { status, stdout, stderr } = await sandbox.run(['show', '--json'], { cwd: makeTempFolder() });
    expect([status, JSON.parse(stdout).id]).toEqual([0, newest.id]);
    expect(stderr).toContain('the newest of all, from project');
  });

  it('says whether the id is unknown or the store empty', async () => {
    const unknown = await sandbox.run(['show', '20260201', '--json']);
    expect([unknown.status, errorCode(unknown)]).toEqual([66, 'HANDOVER_NOT_FOUND']);
    const empty = await makeSandbox().run(['show', '--json']);
    expect([empty.status, errorCode(empty)]).toEqual([66, 'HANDOVER_STORE_EMPTY']);
    expect((await sandbox.run(['show', 'a', 'b'])).status).toBe(64);
  });
});
