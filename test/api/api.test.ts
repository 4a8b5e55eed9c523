import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as api from '../../src/index.ts';
import { makeTempFolder } from '../support/cli.ts';

function openOwnStore(): api.Store {
  const folder = makeTempFolder();
  return api.openStore(api.describeMachine({ HOME: folder, HANDOVER_HOME: join(folder, 'store') }, folder));
}

describe('the public API', () => {
  it('has a row with an example in docs/api.md for every name, and no other', () => {
    const rows = readFileSync('docs/api.md', 'utf8').matchAll(/^\| `(\w+)` \| [^|]+ \| `([^`]+)` \|$/gm);
    const documented = [...rows].map(([, name = '', example = '']) => {
      expect([name, example.includes(name)]).toEqual([name, true]);
      return name;
    });
    expect(documented.sort()).toEqual(Object.keys(api).sort());
    expect(documented.length).toBeLessThanOrEqual(20);
  });

  it('saves, lists, finds, searches, renders, verifies and forgets', async () => {
    const store = openOwnStore();
    const saved = await api.saveHandover(store, {
      summary: 'Retries raised to 5',
      decision: ['Retry only on 502'],
      next: ['Write the timeout test'],
    });
    expectTypeOf(saved).toEqualTypeOf<api.Handover>();
    expect((await api.listHandovers(store, { query: 'TIMEOUT', limit: 5 })).map(({ id }) => id)).toEqual([saved.id]);
    const found = await api.findHandover(store, 'latest');
    expect(found).toEqual(saved);
    const { hits } = await api.searchFacts(store, 'timeout');
    expect(hits[0]?.text).toBe('Write the timeout test');
    const brief = api.renderBrief(store, found, { reader: 'codex', budget: 400 });
    expectTypeOf(brief).toEqualTypeOf<api.Brief>();
    expect(brief.text).toContain('Retry only on 502');
    const path = join(store.root, 'handovers', saved.id.slice(0, 4), saved.id.slice(4, 6), `${saved.id}.json`);
    const bytes = readFileSync(path);
    expect(api.verifyHandover(bytes, path)).toEqual(saved);
    bytes[bytes.length - 2] = 0x20;
    expect(() => api.verifyHandover(bytes, path)).toThrow(api.HandoverError);
    expect((await api.examineStore(store)).findings).toEqual([]);
    expect(api.forgetHandover(store, saved.id)).toBe(true);
    await expect(api.findHandover(store, saved.id)).rejects.toMatchObject({ code: 'HANDOVER_NOT_FOUND' });
  });

  it('captures a transcript once, and says that it is known the second time', async () => {
    const store = openOwnStore();
    const first = await api.captureTranscript(store, 'test/fixtures/sessions/rails.jsonl');
    expectTypeOf(first).toEqualTypeOf<api.CaptureResult>();
    expect(first.outcome).toBe('saved');
    expect((await api.captureTranscript(store, 'test/fixtures/sessions/rails.jsonl')).outcome).toBe('known');
    expect(await api.listHandovers(store)).toHaveLength(1);
  });

  it('refuses input of other types with a coded error that names the part', async () => {
    const store = openOwnStore();
    // As a program in JavaScript would.
    const loose = (value: unknown) => JSON.parse(JSON.stringify(value));
    for (const [text, part] of [
      [{ summary: 5 }, '"summary"'],
      [{ decision: 'x' }, '"decision"'],
      [{ next: [1] }, '"next.0"'],
      [null, 'what to save'],
    ])
      await expect(api.saveHandover(store, loose(text))).rejects.toMatchObject({
        code: 'HANDOVER_INPUT_INVALID',
        message: expect.stringContaining(String(part)),
      });
    await expect(api.findSessions(store.machine, { agent: loose('zz') })).rejects.toMatchObject({
      code: 'HANDOVER_USAGE',
      message: 'unknown agent "zz"',
    });
    await expect(api.findHandover(store, loose(5))).rejects.toThrow(api.HandoverError);
    await expect(api.searchFacts(store, loose(null))).rejects.toThrow(api.HandoverError);
    await expect(api.captureTranscript(store, loose(5))).rejects.toThrow(api.HandoverError);
    expect(await api.listHandovers(store)).toEqual([]);
  });

  it('names the agents there are when a brief is asked for another', async () => {
    const store = openOwnStore();
    const saved = await api.saveHandover(store, { summary: 'x' });
    expect(() => api.renderBrief(store, saved, { reader: 'nobody' })).toThrow(/"nobody"/);
  });
});
