import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { HandoverError } from '../../src/errors.ts';
import { formatHandover, openHandover } from '../../src/handover/seal.ts';
import type { Handover } from '../../src/model/handover.ts';
import { computeChecksum } from '../../src/model/hash.ts';
import { inPairs, makeSandbox } from '../support/cli.ts';
import { saveSample } from '../support/samples.ts';

const sandbox = makeSandbox();
const good: string[] = [];

/** A sealed record of that id, as a text that can be spoilt. */
function makeText(id: string, change: (record: Record<string, unknown>) => void = () => undefined): string {
  const record: Record<string, unknown> = { ...structuredClone(template), id };
  change(record);
  return `${JSON.stringify({ ...record, checksum: computeChecksum(record) }, null, 2)}\n`;
}

let template: Handover;

type Content = string | Uint8Array | 'a folder';
/** What stands in a file named like a handover, made for its id. None of it is one. */
const BAD: Readonly<Record<string, (id: string) => Content>> = {
  'a key __proto__': (id) => makeText(id).replace('{', '{"__proto__":{"polluted":true},'),
  'an escaped key __proto__': (id) => makeText(id).replace('{', '{"\\u005f_proto__":{"polluted":true},'),
  'a key constructor': (id) => makeText(id).replace('{', '{"constructor":{"prototype":{"polluted":true}},'),
  'nesting of 10,000 levels': (id) => makeText(id).replace('[]', `${'['.repeat(10_000)}${']'.repeat(10_000)}`),
  'five megabytes of brackets': () => '['.repeat(5 * 1024 * 1024),
  'a key twice': (id) => makeText(id).replace('{', '{"title":"another",'),
  'a huge number': (id) => makeText(id).replace('"facts": []', '"facts": 1e999'),
  'a number of many digits': (id) => makeText(id).replace('"facts": []', `"facts": ${'9'.repeat(100_000)}`),
  'a byte order mark': (id) => `\ufeff${makeText(id)}`,
  'UTF-16': (id) => Buffer.from(makeText(id), 'utf16le'),
  nothing: () => '',
  'white space': () => '\n\n',
  'no JSON': () => 'not json',
  null: () => 'null\n',
  'another id': () => makeText('20250101-000000-zzzz'),
  'a wrong checksum': (id) => makeText(id).replace('A sample', 'A simple'),
  'other white space': (id) => makeText(id).replace('{\n', '{ \n'),
  'a field too many': (id) => makeText(id, (record) => Object.assign(record, { extra: 1 })),
  'a time that is none': (id) =>
    makeText(id, (record) => Object.assign(record, { created_at: '2025-99-99T00:00:00.000Z' })),
  'a folder': () => 'a folder',
};
const names = Object.keys(BAD);
const idOf = (at: number): string => `20250301-0000${String(at).padStart(2, '0')}-bad0`;
const pathOf = (id: string): string => join(sandbox.store, 'handovers', id.slice(0, 4), id.slice(4, 6), `${id}.json`);
const newer = '20250401-000000-new0';
const misplaced = '20250501-000000-mis0';

function place(path: string, content: Content): void {
  mkdirSync(content === 'a folder' ? path : dirname(path), { recursive: true, mode: 0o700 });
  if (content !== 'a folder') writeFileSync(path, content, { mode: 0o600 });
}

beforeAll(async () => {
  template = saveSample(sandbox.machine);
  good.push(template.id, await sandbox.save('--summary', 'good'));
  for (const [at, name] of names.entries()) place(pathOf(idOf(at)), BAD[name]?.(idOf(at)) ?? '');
  place(
    pathOf(newer),
    makeText(newer, (record) => Object.assign(record, { schema: 'handover/2', more: [1] })),
  );
  place(join(sandbox.store, 'handovers', '2024', '12', `${misplaced}.json`), makeText(misplaced));
});

interface Findings {
  findings: { path: string; code: string; level: string; fixed: boolean }[];
}

describe('a file in the store that is not a handover', () => {
  it('does not hide the others from a list', async () => {
    for (const sqlite of [undefined, 'none']) {
      const { status, stdout, stderr } = await sandbox.run(['list', '--json'], {
        env: { HANDOVER_SQLITE: sqlite },
      });
      expect(status).toBe(0);
      expect(JSON.parse(stdout).map((row: { id: string }) => row.id)).toEqual(good.toReversed());
      expect(stderr).toMatch(/skipped \d+ damaged files/);
    }
  });

  it('makes show and render fail with a code', async () => {
    const ids = names.map((_, at) => idOf(at));
    for (const command of ['show', 'render']) {
      const results = await inPairs(ids, (id) => sandbox.run([command, id]));
      for (const [at, { status, stdout, stderr }] of results.entries()) {
        expect([65, 77], names[at]).toContain(status);
        expect(stdout, names[at]).toBe('');
        expect(stderr, names[at]).toContain(idOf(at));
      }
    }
    expect((await sandbox.run(['show', misplaced])).status).toBe(66);
    expect((await sandbox.run(['show', good[0] ?? ''])).status).toBe(0);
  });

  it('does not change prototypes', () => {
    for (const [at, name] of names.entries()) {
      const content = BAD[name]?.(idOf(at)) ?? '';
      const bytes = typeof content === 'string' ? Buffer.from(content) : content;
      expect(() => openHandover(bytes, idOf(at), name), name).toThrow(HandoverError);
    }
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    expect(formatHandover(template)).toContain('"schema": "handover/1"');
  });

  it('is reported by doctor, and quarantined with --fix, unless of a newer version', async () => {
    const before = await sandbox.run(['doctor', '--json']);
    expect(before.status).toBe(65);
    const { findings }: Findings = JSON.parse(before.stdout);
    const level = new Map(findings.map((finding) => [finding.path, finding.level]));
    for (const [at, name] of names.entries()) expect(level.get(pathOf(idOf(at))), name).toBe('damage');
    expect(findings.find((finding) => finding.path === pathOf(newer))?.code).toBe('newer-handover');
    expect(findings.some((finding) => finding.path.endsWith(`2024/12/${misplaced}.json`))).toBe(true);
    await sandbox.ok(['doctor', '--fix']);
    for (const [at, name] of names.entries()) expect(existsSync(pathOf(idOf(at))), name).toBe(false);
    expect(existsSync(pathOf(newer))).toBe(true);
    expect((await sandbox.run(['show', newer])).stderr).toContain('handover/2');
    expect((await sandbox.run(['doctor'])).status).toBe(0);
    expect((await sandbox.run(['show', good[1] ?? ''])).status).toBe(0);
  });
});
