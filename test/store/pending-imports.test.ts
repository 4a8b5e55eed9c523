import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Handover } from '../../src/model/handover.ts';
import { computeChecksum } from '../../src/model/hash.ts';
import { findReceived } from '../../src/store/bundle-series.ts';
import { takeRows } from '../../src/store/catalog.ts';
import { examineStore } from '../../src/store/doctor/doctor.ts';
import { createHandoverFile } from '../../src/store/handovers.ts';
import { openCatalog } from '../../src/store/open-catalog.ts';
import { saveImport } from '../../src/store/pending-imports.ts';
import type { Store } from '../../src/store/store.ts';
import { makeDraft, sealDraft } from '../support/facts.ts';
import { makeStore, saveOne } from '../support/temp-store.ts';

const DIGEST = 'd'.repeat(64);
const DETAIL = { key: 'k', series: 's', sequence: 4 };

/** As a process leaves it that is killed right after the commit point. */
function leaveArriving(store: Store, handovers: Handover[], replace: string[] = []): void {
  const arrival = { schema: 'arrival/1', digest: DIGEST, detail: DETAIL, handovers, replace };
  mkdirSync(join(store.root, 'arriving'), { recursive: true, mode: 0o700 });
  const text = JSON.stringify({ ...arrival, checksum: computeChecksum(arrival) });
  writeFileSync(join(store.root, 'arriving', `${DIGEST}.json`), text, { mode: 0o600 });
}

async function listTitles(store: Store): Promise<string[]> {
  const { catalog } = await openCatalog(store);
  const rows = await takeRows(catalog.rows({}), 100);
  catalog.close();
  return rows.map(({ title }) => title).sort();
}

function makeHandovers(): Handover[] {
  return ['one', 'two', 'three'].map((title) => sealDraft(makeDraft([], { title })));
}

async function findDamage(store: Store): Promise<string[]> {
  const { findings } = await examineStore(store);
  return findings.filter(({ level }) => level !== 'notice').map(({ code }) => code);
}

describe('a pending import', () => {
  it('is completed when interrupted at the commit point', async () => {
    const store = makeStore();
    saveOne(store, 'own');
    leaveArriving(store, makeHandovers());
    expect(await listTitles(store)).toEqual(['one', 'own', 'three', 'two']);
    expect(readdirSync(join(store.root, 'arriving'))).toEqual([]);
    expect(findReceived(store, 'k', 's')).toEqual({ sequence: 4, digest: DIGEST });
    expect(await findDamage(store)).toEqual([]);
  });

  it('is completed when interrupted half way', async () => {
    const store = makeStore();
    saveOne(store, 'own');
    const [first, ...rest] = makeHandovers();
    if (first === undefined) throw new Error('there is none');
    createHandoverFile(store, first);
    await listTitles(store);
    leaveArriving(store, [first, ...rest]);
    expect(await listTitles(store)).toEqual(['one', 'own', 'three', 'two']);
    expect(await findDamage(store)).toEqual([]);
  });

  it('replaces existing handovers, in the index too, only where allowed', async () => {
    const store = makeStore();
    const [first, second] = [saveOne(store, 'first'), saveOne(store, 'second')];
    expect(await listTitles(store)).toEqual(['first', 'second']);
    const others = makeHandovers().slice(0, 2);
    const taking = [first, second].map(({ id, created_at }, at) => {
      const { checksum: _, ...draft } = { ...(others[at] ?? first), id, created_at };
      return { ...draft, checksum: computeChecksum(draft) };
    });
    saveImport(store, { digest: DIGEST, detail: DETAIL, handovers: taking, replace: [first.id] });
    expect(await listTitles(store)).toEqual(['one', 'second']);
    expect(readdirSync(join(store.root, 'quarantine'))).toEqual([
      `replaced-${first.checksum.slice(0, 16)}-${first.id}.json`,
    ]);
    expect(await findDamage(store)).toEqual([]);
  });
});
