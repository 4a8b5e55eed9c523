import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { HandoverError } from '../../src/errors.ts';
import { search } from '../../src/search/search.ts';
import type { CatalogRow } from '../../src/store/catalog.ts';
import { examineStore } from '../../src/store/doctor/doctor.ts';
import { readHandover } from '../../src/store/handovers.ts';
import { openCatalog } from '../../src/store/open-catalog.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { makeSandbox } from '../support/cli.ts';
import { listFiles } from '../support/tree.ts';

/*
 * Any byte of any file of a store is changed, one at a time. Each time the doctor must name the file, and every
 * handover but the one that was hit must still be listed and read.
 */

interface KeptFile {
  path: string;
  bytes: Buffer;
}

const sandbox = makeSandbox();
const ids: string[] = [];
let store: Store;
let kept: KeptFile[] = [];

/** Old enough for a month's folder to count as final, and for a claim not to count as half written. */
const AN_HOUR_AGO = Math.floor(Date.now() / 1000) - 3600;

beforeAll(async () => {
  for (const title of ['first', 'second', 'third', 'forgotten']) {
    ids.push(await sandbox.save('--title', title, '--summary', `Summary of the ${title}`, '--next', `Do ${title}`));
  }
  await sandbox.ok(['forget', ids.pop() ?? '']);
  const month = join(sandbox.store, 'handovers', ...(ids[0] ?? '').replace(/^(\d{4})(\d\d).*/, '$1 $2').split(' '));
  utimesSync(month, AN_HOUR_AGO, AN_HOUR_AGO);
  await sandbox.ok(['list']);
  await sandbox.ok(['search', 'summary']);
  kept = listFiles(sandbox.store).map((path) => ({ path, bytes: readFileSync(path) }));
  restore();
});

/** Puts every file back as it was, and removes what was added. */
function restore(): void {
  const known = new Set(kept.map(({ path }) => path));
  for (const path of listFiles(sandbox.store)) if (!known.has(path)) rmSync(path);
  for (const file of kept) {
    const stat = statSync(file.path, { throwIfNoEntry: false });
    const same = stat?.mtimeMs === AN_HOUR_AGO * 1000 && readFileSync(file.path).equals(file.bytes);
    if (!same) write(file.path, file.bytes);
  }
}

function write(path: string, bytes: Uint8Array): void {
  writeFileSync(path, bytes, { mode: 0o600 });
  utimesSync(path, AN_HOUR_AGO, AN_HOUR_AGO);
}

async function listKept(): Promise<string[]> {
  const { catalog } = await openCatalog(store);
  try {
    const found: string[] = [];
    for await (const row of catalog.rows({})) if (reads(row)) found.push(row.id);
    return found.reverse();
  } finally {
    catalog.close();
  }
}

/** An index may still list a handover that has rotted since; reading it then says so. */
function reads(row: CatalogRow): boolean {
  try {
    return readHandover(store, row.id)?.title === row.title;
  } catch (error) {
    if (error instanceof HandoverError && error.code === 'HANDOVER_RECORD_DAMAGED') return false;
    throw error;
  }
}

const QUERIES = ['summary of the third', 'sumary', 'do first', 'nothing like it'];

/** What searches give, by the index and without a word of complaint. */
async function askAll(): Promise<unknown> {
  const answers: unknown[] = [];
  for (const text of QUERIES) answers.push(await search({ store }, { text, limit: 9 }));
  return answers;
}

/** Null when the change was seen and did no harm to the other handovers. */
async function changeByte(file: KeptFile, at: number, mask: number): Promise<string | null> {
  const changed = Buffer.from(file.bytes);
  changed.writeUInt8(changed.readUInt8(at) ^ mask, at);
  write(file.path, changed);
  const where = `${relative(sandbox.store, file.path)} byte ${at} ^ ${mask}`;
  const { findings } = await examineStore(store);
  const name = basename(file.path);
  const named = findings.some((finding) => finding.path === file.path || finding.message.includes(name));
  restore();
  write(file.path, changed);
  const expected = ids.filter((id) => name !== `${id}.json`);
  const list = async (): Promise<string[]> => (await listKept()).filter((id) => expected.includes(id));
  const found = await list();
  restore();
  if (!named) return `${where}: not seen`;
  return found.join() === expected.join() ? null : `${where}: of the others only ${found.join()} are listed`;
}

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** A binding that met a damaged database keeps its files open until its statements are collected. */
async function releaseFiles(): Promise<void> {
  collectGarbage();
  await new Promise((resolve) => setImmediate(resolve));
}

async function changeEachByte(folder: string, mask: number, step = 1): Promise<string[]> {
  const files = kept.filter(({ path }) => relative(sandbox.store, path).startsWith(folder));
  expect(files.length).toBeGreaterThan(0);
  const failures: string[] = [];
  for (const file of files) {
    for (let at = 0; at < file.bytes.length; at += step) {
      if (at % 256 === 0) await releaseFiles();
      const failure = await changeByte(file, at, mask);
      if (failure !== null) failures.push(failure);
    }
  }
  return failures;
}

beforeEach(() => {
  store = openStore(sandbox.machine);
});

describe('a store with one changed byte', () => {
  it('has no findings before the change', async () => {
    const { findings } = await examineStore(store);
    restore();
    expect(findings.filter((finding) => finding.path !== null)).toEqual([]);
    expect(await listKept()).toEqual(ids);
    restore();
  });

  it.each(['handovers', 'journal', 'locks'])('shows it in each byte of %s', { timeout: 240_000 }, async (folder) => {
    expect(await changeEachByte(folder, 0x01)).toEqual([]);
  });

  it('shows it in each byte of the digest of the index; the size and time before it only spare reading all of it', async () => {
    const file = kept.find(({ path }) => path.endsWith('index.sum'));
    if (file === undefined) throw new Error('no index.sum');
    const digest = file.bytes.indexOf('\n') + 1;
    expect(file.bytes.length - digest).toBe(65);
    const failures: (string | null)[] = [];
    for (let at = digest; at < file.bytes.length; at++) failures.push(await changeByte(file, at, 0x01));
    expect(failures.filter((failure) => failure !== null)).toEqual([]);
  });

  it.each(['handovers', 'journal'])(
    'shows it in each byte of %s without an index, all bits turned over',
    { timeout: 240_000 },
    async (folder) => {
      store = openStore({ ...sandbox.machine, env: { ...sandbox.machine.env, HANDOVER_SQLITE: 'none' } });
      expect(await changeEachByte(folder, 0xff)).toEqual([]);
    },
  );

  it('reports a change in index.sqlite', { timeout: 1_800_000 }, async () => {
    expect(await changeEachByte('index.sqlite', 0x01, process.env.SLOW === '1' ? 1 : 7)).toEqual([]);
  });
});

describe('a deleted, cut or changed search index', () => {
  const files = (): KeptFile[] => kept.filter(({ path }) => /^search\.(?:sqlite|sum)$/.test(basename(path)));

  async function spoil(spoilt: (file: KeptFile) => Iterable<Uint8Array | null>): Promise<string[]> {
    const before = await askAll();
    restore();
    expect(files().map(({ path }) => basename(path))).toEqual(['search.sqlite', 'search.sum']);
    const failures: string[] = [];
    for (const file of files()) {
      let count = 0;
      for (const bytes of spoilt(file)) {
        if (count++ % 64 === 0) await releaseFiles();
        if (bytes === null) rmSync(file.path);
        else write(file.path, bytes);
        const answers = await askAll();
        restore();
        if (JSON.stringify(answers) !== JSON.stringify(before)) failures.push(`${basename(file.path)}, case ${count}`);
      }
    }
    return failures;
  }

  it('gives the same answers when it was deleted or cut', async () => {
    expect(
      await spoil(function* ({ bytes }) {
        yield null;
        for (const share of [0, 0.01, 0.3, 0.5, 0.99]) yield bytes.subarray(0, Math.floor(bytes.length * share));
        yield bytes.subarray(0, -1);
      }),
    ).toEqual([]);
  });

  it('gives the same answers when any byte has changed', { timeout: 1_800_000 }, async () => {
    expect(
      await spoil(function* ({ bytes }) {
        const step = process.env.SLOW === '1' ? 1 : Math.ceil(bytes.length / 80);
        for (let at = 0; at < bytes.length; at += step) {
          const changed = Buffer.from(bytes);
          changed.writeUInt8(changed.readUInt8(at) ^ 0x04, at);
          yield changed;
        }
      }),
    ).toEqual([]);
  });
});
