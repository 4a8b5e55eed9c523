import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Handover } from '../../../src/model/handover.ts';
import { errorCode, makeSandbox, type Sandbox } from '../../support/cli.ts';
import { snapshotTree } from '../../support/tree.ts';

const RECORD = {
  id: '20250101-120000',
  created_at: '2025-01-01T12:00:00Z',
  tool: 'codex',
  project: '/gone/shop',
  title: 'Checkout',
  summary: 'Half done',
  next: ['Write tests', 'Ship'],
  changed: ['src/a.go', 'b -> c'],
};

function place(sandbox: Sandbox, content: unknown): string {
  const folder = join(sandbox.home, '.config', 'session-handoff');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'handoffs.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

interface Migration {
  from: string;
  dry_run: boolean;
  records: { position: number; id: string | null; outcome: string; note: string | null }[];
}

describe('handover migrate', () => {
  it('imports every record under its id, and leaves the file unchanged', async () => {
    const sandbox = makeSandbox();
    const file = place(sandbox, {
      version: 1,
      items: [RECORD, { ...RECORD, id: '20250101-120000-002', next: null }],
    });
    const before = snapshotTree(file);
    const text = await sandbox.ok(['migrate']);
    expect(text).toContain('2 imported, 0 already here, 0 refused');
    expect(snapshotTree(file)).toEqual(before);
    expect(await sandbox.json<Handover>(['show', RECORD.id])).toMatchObject({
      created_at: '2025-01-01T12:00:00.000Z',
      session: { agent: 'codex' },
      project: { name: 'shop' },
      title: 'Checkout',
      summary: 'Half done',
      facts: [
        { kind: 'next', text: 'Write tests', trust: 'imported' },
        { kind: 'next', text: 'Ship' },
        { kind: 'file', text: 'src/a.go' },
        { kind: 'file', text: 'b -> c' },
      ],
      imported: { format: 'session-handoff/1', id: RECORD.id },
    });
    expect(await sandbox.ok(['doctor'])).toContain('all is well');
  });

  it('imports each record once, however often it is run', async () => {
    const sandbox = makeSandbox();
    place(sandbox, { version: 1, items: [RECORD, { ...RECORD, title: 'Another of the same id' }] });
    const first = await sandbox.json<Migration>(['migrate']);
    expect(Object.keys(first)).toEqual(['from', 'dry_run', 'records']);
    expect(first.records.map((record) => Object.keys(record))).toEqual(
      Array(2).fill(['position', 'id', 'outcome', 'note', 'file']),
    );
    expect(first.records.map((record) => record.outcome)).toEqual(['imported', 'imported']);
    const second = await sandbox.json<Migration>(['migrate']);
    expect(second.records.map(({ id, outcome }) => [id, outcome])).toEqual(
      first.records.map(({ id }) => [id, 'present']),
    );
    expect(await sandbox.json<unknown[]>(['list'])).toHaveLength(2);
  });

  it('reports bad records, exits with 65, and imports the others', async () => {
    const sandbox = makeSandbox();
    const bad = [
      'text',
      null,
      {},
      { ...RECORD, created_at: 'yesterday' },
      { ...RECORD, created_at: '2025-02-30T99:00:00Z' },
      { ...RECORD, title: ' ' },
      { ...RECORD, next: 'x' },
      { ...RECORD, id: '' },
    ];
    place(sandbox, { version: 1, items: [...bad, RECORD] });
    const { status, stdout } = await sandbox.run(['migrate', '--json']);
    expect(status).toBe(65);
    const { records }: Migration = JSON.parse(stdout);
    expect(records.map((record) => record.outcome)).toEqual([...bad.map(() => 'refused'), 'imported']);
    expect(records.slice(0, -1).every((record) => (record.note ?? '') !== '')).toBe(true);
    expect(records.map((record) => record.position)).toEqual(records.map((_, at) => at + 1));
    expect((await sandbox.json<{ id: string }[]>(['list'])).map((row) => row.id)).toEqual([RECORD.id]);
  });

  it('gives a record with a foreign id a new one, and remembers the old one', async () => {
    const sandbox = makeSandbox();
    place(sandbox, { version: 1, items: [{ ...RECORD, id: '../../evil' }] });
    const { records } = await sandbox.json<Migration>(['migrate']);
    expect(records[0]).toMatchObject({
      id: expect.stringMatching(/^20250101-120000-[0-9a-z]{4}$/),
      note: 'was ../../evil',
    });
    expect((await sandbox.json<Handover>(['show'])).imported?.id).toBe('../../evil');
  });

  it('imports a record whose id is taken under another id', async () => {
    const sandbox = makeSandbox();
    const { id, created_at } = await sandbox.json<{ id: string; created_at: string }>(['save', '--summary', 'mine']);
    place(sandbox, { version: 1, items: [{ ...RECORD, id, created_at: `${created_at.slice(0, 19)}Z` }] });
    const { records } = await sandbox.json<Migration>(['migrate']);
    expect(records).toMatchObject([{ outcome: 'imported', note: `was ${id}` }]);
    expect((await sandbox.json<Migration>(['migrate'])).records).toMatchObject([{ outcome: 'present' }]);
    expect(await sandbox.json<unknown[]>(['list'])).toHaveLength(2);
    expect((await sandbox.json<Handover>(['show', id])).summary).toBe('mine');
  });

  it('writes nothing in a dry run', async () => {
    const sandbox = makeSandbox();
    place(sandbox, { version: 1, items: [RECORD] });
    const { records, dry_run } = await sandbox.json<Migration>(['migrate', '--dry-run']);
    expect([dry_run, records[0]?.outcome]).toEqual([true, 'would import']);
    expect(existsSync(sandbox.store)).toBe(false);
  });

  it('resolves a named file from the current folder', async () => {
    const sandbox = makeSandbox();
    writeFileSync(join(sandbox.project, 'old.json'), JSON.stringify({ items: [RECORD] }));
    const { from } = await sandbox.json<Migration>(['migrate', '--from', 'old.json']);
    expect(from).toBe(join(sandbox.project, 'old.json'));
    writeFileSync(join(sandbox.project, 'none.json'), JSON.stringify({ version: 1, items: null }));
    expect(await sandbox.ok(['migrate', '--from', 'none.json'])).toContain('0 imported');
  });

  it.each<[string, unknown, number, string]>([
    ['a version that is not known', { version: 2, items: [RECORD] }, 65, 'HANDOVER_INPUT_INVALID'],
    ['a file that is no store', { items: 'x' }, 65, 'HANDOVER_INPUT_INVALID'],
    ['a list', [RECORD], 65, 'HANDOVER_INPUT_INVALID'],
    ['broken JSON', '{"version":1,"items":[', 65, 'HANDOVER_JSON_INVALID'],
    ['an empty file', '', 65, 'HANDOVER_JSON_INVALID'],
    ['nesting without end', '['.repeat(100_000), 65, 'HANDOVER_JSON_INVALID'],
  ])('refuses %s and saves nothing', async (_, content, status, code) => {
    const sandbox = makeSandbox();
    const file = place(sandbox, content);
    const before = readFileSync(file);
    const result = await sandbox.run(['migrate', '--json']);
    expect([result.status, errorCode(result)]).toEqual([status, code]);
    expect(existsSync(sandbox.store)).toBe(false);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('says what to pass when there is no readable file', async () => {
    const sandbox = makeSandbox();
    const none = await sandbox.run(['migrate', '--json']);
    expect([none.status, errorCode(none)]).toEqual([66, 'HANDOVER_NOT_FOUND']);
    expect(none.stderr).toContain('--from FILE');
    expect((await sandbox.run(['migrate', '--from', '.'])).status).toBe(66);
    expect((await sandbox.run(['migrate', '--from', '/dev/zero'])).status).toBe(77);
  });
});
