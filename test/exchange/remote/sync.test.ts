import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toRecipient } from '../../../src/exchange/bundle/age.ts';
import { trustKey } from '../../../src/exchange/bundle/trust-list.ts';
import { nameWriter } from '../../../src/exchange/remote/page.ts';
import type { Remote } from '../../../src/exchange/remote/remote.ts';
import { readRemoteState } from '../../../src/exchange/remote/state.ts';
import { previewSync } from '../../../src/exchange/remote/sync.ts';
import { isForeign } from '../../../src/model/handover.ts';
import { forgetHandover, hasHandover, readHandover } from '../../../src/store/handovers.ts';
import { markFact, readMarks } from '../../../src/store/marks.ts';
import { moveStatus, readStatus } from '../../../src/store/status.ts';
import type { Store } from '../../../src/store/store.ts';
import {
  type Member,
  makeMember,
  makePair,
  makeTeam,
  openSharedFolder,
  optionsOf,
  PROJECT,
  readAll,
  save,
  sync,
} from '../../support/syncing.ts';
import { makeFolder, NOON, saveOne } from '../../support/temp-store.ts';

function countJournal(store: Store, event: string): number {
  const folder = join(store.root, 'journal');
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'));
  return lines.filter((line) => line.includes(`"event":"${event}"`)).length;
}

test.each([false, true])('what a remote lost is sent again by its writer, encrypted: %s', async (isEncrypted) => {
  const { ada, ben, folder, remote } = await makePair();
  const recipients = await Promise.all([ada, ben].map(({ keys }) => toRecipient(keys.identity)));
  const options = isEncrypted ? { recipients } : {};
  const [lost, damaged, kept] = [save(ada, 'Lost'), save(ada, 'Damaged'), save(ada, 'Kept')].map(({ id }) => id);
  await sync(ada, remote, options);
  const bodies = join(folder, 'bodies', PROJECT.id);
  for (const name of readdirSync(bodies)) {
    if (name.startsWith(lost ?? '-')) rmSync(join(bodies, name));
    if (name.startsWith(damaged ?? '-')) writeFileSync(join(bodies, name), 'rot\n');
  }
  const { notes } = await sync(ben, remote, options);
  expect(notes).toEqual([expect.stringMatching(`${lost} of ada.*handover sync --verify`)]);
  expect(notes[0]).not.toContain(kept);
  expect((await sync(ada, remote, { ...options, verifies: true })).sent.handovers).toBe(2);
  expect((await sync(ada, remote, { ...options, verifies: true })).sent.handovers).toBe(0);
  expect(await sync(ben, remote)).toMatchObject({ received: { handovers: 2 }, missing: 0 });
});

test('an own handover that came back without its journal entry is sent again where the remote loses it', async () => {
  const { ada, ben, folder, remote } = await makePair();
  const { id } = save(ada, 'Work');
  await sync(ada, remote);
  // As a sync leaves it that was killed after it had stored the file.
  for (const name of ['journal', 'remotes']) rmSync(join(ada.store.root, name), { recursive: true });
  await sync(ada, remote);
  expect(countJournal(ada.store, 'migrated')).toBe(1);
  rmSync(folder, { recursive: true });
  const emptied = openSharedFolder(folder, ada.store.machine);
  await sync(ada, emptied);
  await sync(ben, emptied);
  expect(hasHandover(ben.store, id)).toBe(true);
});

test('whoever sends in clear where others encrypt is told so, and what cannot be read is remembered', async () => {
  const { ada, ben, folder, remote } = await makePair();
  const [carol] = await makeTeam('carol');
  if (carol === undefined) throw new Error('a team of one');
  trustKey(carol.store.machine, ada.keys.secret, 'ada');
  save(ada, 'Lost');
  const recipients = await Promise.all([ada, ben].map(({ keys }) => toRecipient(keys.identity)));
  await sync(ada, remote, { recipients });
  expect((await sync(ben, remote)).notes).toEqual([expect.stringContaining('--encrypt-to')]);
  expect((await sync(ben, remote, { recipients })).notes).toEqual([]);
  await sync(carol, openSharedFolder(folder, carol.store.machine));
  expect(Object.values(readRemoteState(carol.store, 'team')?.sealed ?? {})).toEqual([1]);
});

test('what is no file in the place of a body is damage, and holds up nothing', async () => {
  const { ada, ben, folder, remote } = await makePair();
  const [lost] = [save(ada, 'Linked'), save(ada, 'Fine')];
  await sync(ada, remote);
  const bodies = join(folder, 'bodies', PROJECT.id);
  const name = readdirSync(bodies).find((one) => one.startsWith(lost?.id ?? '-')) ?? '';
  rmSync(join(bodies, name));
  symlinkSync('/etc/passwd', join(bodies, name));
  expect(await sync(ben, remote)).toMatchObject({ received: { handovers: 1 }, missing: 1 });
});

test('a sync that waits for another of the same store says so', async () => {
  const { ada, remote } = await makePair();
  let goOn: () => void = () => undefined;
  let told = 0;
  const listLogs = async () => {
    await new Promise<void>((resolve) => {
      goOn = resolve;
    });
    return await remote.listLogs();
  };
  const first = sync(ada, { ...remote, listLogs });
  const onWait = (): void => {
    told++;
    goOn();
  };
  await sync(ada, remote, { onWait });
  await first;
  expect(told).toBe(1);
});

describe('what one store saves is there in the other', () => {
  test('as an import of its signer, once, and never again when nothing is new', async () => {
    const { ada, ben, remote } = await makePair();
    const saved = save(ada, 'the parser');
    expect((await sync(ada, remote)).sent).toEqual({ handovers: 1, marks: 0, forgotten: 0 });
    expect((await sync(ben, remote)).received.handovers).toBe(1);
    const taken = readHandover(ben.store, saved.id);
    expect(taken).toMatchObject({ title: 'the parser', imported: { format: 'sync/1', signer: { name: 'ada' } } });
    expect(taken?.facts.every(({ trust }) => trust === 'imported')).toBe(true);
    const before = countJournal(ben.store, 'imported');
    expect((await sync(ben, remote)).received.handovers).toBe(0);
    expect((await sync(ada, remote)).sent.handovers).toBe(0);
    expect(countJournal(ben.store, 'imported')).toBe(before);
  });

  test('paths of the writer and what is not on the trust list do not travel', async () => {
    const { ada, folder, remote } = await makePair();
    save(ada, `about ${ada.folder}/secret-place`);
    await sync(ada, remote);
    expect(readAll(folder)).not.toContain(ada.folder);
  });

  test('a signer named as self stays own work, with where it came from', async () => {
    const { ada, ben, remote } = await makePair();
    const saved = save(ada, 'mine too');
    await sync(ada, remote);
    await sync({ ...ben, self: ['ada'] }, remote);
    const taken = readHandover(ben.store, saved.id);
    expect(taken === null ? null : isForeign(taken)).toBe(false);
    expect(taken?.facts.some(({ trust }) => trust === 'imported')).toBe(false);
    expect(taken?.imported).toMatchObject({ format: 'sync/1', detail: { signer: { name: 'ada' } } });
    // What it did not write itself, it does not send as its own.
    expect((await sync({ ...ben, self: ['ada'] }, remote)).sent.handovers).toBe(0);
  });

  test('more handovers than a page holds arrive in order', async () => {
    const { ada, ben, remote } = await makePair();
    const ids = Array.from({ length: 230 }, (_, at) => save(ada, `work ${at}`).id);
    await sync(ada, remote);
    expect((await sync(ben, remote)).received.handovers).toBe(230);
    expect(ids.every((id) => hasHandover(ben.store, id))).toBe(true);
  });
});

describe('a signer who is not trusted waits', () => {
  test('nothing is taken until the key is trusted, and then everything', async () => {
    const ada = await makeMember('ada', 1);
    const ben = await makeMember('ben', 2);
    const remote = openSharedFolder(join(makeFolder(), 'shared'), ada.store.machine);
    const saved = save(ada, 'the parser');
    await sync(ada, remote);
    const first = await sync(ben, remote);
    expect(first.waiting).toMatchObject([{ name: 'ada', why: 'unknown', pages: 1 }]);
    expect(hasHandover(ben.store, saved.id)).toBe(false);
    trustKey(ben.store.machine, ada.keys.secret, 'ada');
    expect((await sync(ben, remote)).waiting).toEqual([]);
    expect(hasHandover(ben.store, saved.id)).toBe(true);
  });
});

describe('marks and statuses', () => {
  test('the last mark by time counts in both stores, in whichever order they arrive', async () => {
    const { ada, ben, remote } = await makePair();
    const saved = save(ada, 'the parser');
    await sync(ada, remote);
    await sync(ben, remote);
    const fact = saved.facts[0];
    const theirs = readHandover(ben.store, saved.id);
    if (fact === undefined || theirs === null) throw new Error('a fact');
    const at = (member: Member, ms: number) => ({
      ...member.store,
      machine: { ...member.store.machine, clock: { now: () => NOON + ms } },
    });
    markFact(at(ben, 9000), { handover: theirs, fact }, { mark: 'resolved', because: 'done', by: 'human' });
    markFact(at(ada, 5000), { handover: saved, fact }, { mark: 'pinned', because: null, by: 'human' });
    await sync(ada, remote);
    await sync(ben, remote);
    await sync(ada, remote);
    for (const { store } of [ada, ben])
      expect(readMarks(store, PROJECT.id).get(fact.id)).toMatchObject({ mark: 'resolved', because: 'done' });
    const entries = countJournal(ada.store, 'resolved');
    rmSync(join(ada.store.root, 'remotes'), { recursive: true });
    await sync(ada, remote);
    expect(countJournal(ada.store, 'resolved')).toBe(entries);
  });

  test('of two who restore the same handover the first by time is believed everywhere', async () => {
    const { ada, ben, remote } = await makePair();
    const saved = save(ada, 'the parser');
    await sync(ada, remote);
    await sync(ben, remote);
    const late = { ...ben.store, machine: { ...ben.store.machine, clock: { now: () => NOON + 60_000 } } };
    moveStatus(late, saved.id, { to: 'rejected_stale', reason: 'too old' });
    moveStatus(ada.store, saved.id, { to: 'consumed' });
    for (const member of [ada, ben, ada, ben]) await sync(member, remote);
    for (const { store } of [ada, ben]) expect(readStatus(store, saved.id).status).toBe('consumed');
  });
});

describe('what leaves', () => {
  test('is what the preview shows, which writes nothing; other projects and agents stay', async () => {
    const { ada, folder, remote } = await makePair();
    const saved = save(ada, 'the parser');
    saveOne(ada.store, 'private work');
    const filter = { projects: [PROJECT.id], except: [], agents: ['codex'] };
    const shown = await previewSync(optionsOf(ada, remote, { filter }));
    expect(shown.map(({ entry }) => (entry.kind === 'handover' ? entry.id : entry.kind))).toEqual([saved.id]);
    expect(readdirSync(folder)).toEqual([]);
    expect((await sync(ada, remote, { filter })).sent.handovers).toBe(1);
    expect(readAll(folder)).not.toContain('private work');
    // Once more may leave, what stayed before goes too.
    expect((await sync(ada, remote)).sent.handovers).toBe(1);
  });

  test('with recipients only they can read it', async () => {
    const { ada, ben, folder, remote } = await makePair();
    const saved = save(ada, 'the parser');
    const recipients = await Promise.all([ada, ben].map(({ keys }) => toRecipient(keys.identity)));
    await sync(ada, remote, { recipients });
    expect(readAll(folder)).not.toContain('the parser');
    const cleo = await makeMember('cleo', 3);
    trustKey(cleo.store.machine, ada.keys.secret, 'ada');
    expect((await sync(cleo, remote)).notes.join()).toContain('encrypted to other keys');
    await sync(ben, remote, { recipients });
    expect([ben, cleo].map(({ store }) => hasHandover(store, saved.id))).toEqual([true, false]);
  });
});

describe('backups', () => {
  test('a remote restored from an old copy gets back what it lost, and everybody everything', async () => {
    const { ada, ben, folder, remote } = await makePair();
    const ids = [save(ada, 'first').id];
    await sync(ada, remote);
    await sync(ben, remote);
    cpSync(folder, `${folder}.backup`, { recursive: true });
    ids.push(save(ada, 'second').id, save(ben, 'third').id);
    for (const member of [ada, ben, ada]) await sync(member, remote);
    rmSync(folder, { recursive: true });
    cpSync(`${folder}.backup`, folder, { recursive: true });
    ids.push(save(ada, 'fourth').id);
    expect((await sync(ada, remote)).notes.join()).toContain('behind');
    for (const member of [ben, ada, ben]) await sync(member, remote);
    const cleo = await makeMember('cleo', 3);
    for (const other of [ada, ben]) trustKey(cleo.store.machine, other.keys.secret, other.name);
    await sync(cleo, remote);
    for (const { store } of [ada, ben, cleo]) expect(ids.filter((id) => !hasHandover(store, id))).toEqual([]);
  });

  test('a store restored from an old copy takes its own work back, and what it forgot stays forgotten', async () => {
    const { ada, ben, remote } = await makePair();
    const first = save(ada, 'first');
    await sync(ada, remote);
    cpSync(ada.store.root, `${ada.store.root}.backup`, { recursive: true });
    const second = save(ada, 'second');
    forgetHandover(ada.store, first.id);
    await sync(ada, remote);
    rmSync(ada.store.root, { recursive: true });
    cpSync(`${ada.store.root}.backup`, ada.store.root, { recursive: true });
    expect(hasHandover(ada.store, first.id)).toBe(true);
    await sync(ada, remote);
    expect([first, second].map(({ id }) => hasHandover(ada.store, id))).toEqual([false, true]);
    await sync(ben, remote);
    expect([first, second].map(({ id }) => hasHandover(ben.store, id))).toEqual([false, true]);
  });

  test('two stores with the same key do not overwrite each other', async () => {
    const { ada, ben, remote } = await makePair();
    const twin: Member = { ...(await makeMember('other', 9)), name: 'ada', keys: ada.keys };
    const [one, two] = [save(ada, 'here'), save(twin, 'there')];
    await sync(ada, remote);
    await sync(twin, remote);
    await sync(ada, remote);
    await sync(ben, remote);
    for (const { store } of [ada, twin, ben])
      expect([one, two].map(({ id }) => hasHandover(store, id))).toEqual([true, true]);
    expect((await sync(ada, remote)).sent.handovers).toBe(0);
  });
});

describe('a remote that lies', () => {
  test('a changed body is not taken, is said, and is taken once it is right', async () => {
    const { ada, ben, folder, remote } = await makePair();
    const saved = save(ada, 'the parser');
    await sync(ada, remote);
    const [body = ''] = readdirSync(join(folder, 'bodies', PROJECT.id)).map((name) =>
      join(folder, 'bodies', PROJECT.id, name),
    );
    const bytes = readFileSync(body);
    writeFileSync(body, bytes.toString('utf8').replace('the parser', 'the hacker'));
    const { missing, notes } = await sync(ben, remote);
    expect([missing, notes.length, hasHandover(ben.store, saved.id)]).toEqual([1, 1, false]);
    writeFileSync(body, bytes);
    expect((await sync(ben, remote)).missing).toBe(0);
    expect(hasHandover(ben.store, saved.id)).toBe(true);
  });

  test('a damaged page is said, does not hold up later ones, and is taken once it is right', async () => {
    const { ada, ben, folder, remote } = await makePair();
    const one = save(ada, 'first');
    await sync(ada, remote);
    const two = save(ada, 'second');
    await sync(ada, remote);
    const [writer = ''] = readdirSync(join(folder, 'pages'));
    const path = join(folder, 'pages', writer, PROJECT.id, '1');
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.subarray(0, 300));
    const { notes } = await sync(ben, remote);
    expect(notes.join()).toContain('damaged or forged');
    expect([one, two].map(({ id }) => hasHandover(ben.store, id))).toEqual([false, true]);
    writeFileSync(path, bytes);
    await sync(ben, remote);
    expect([one, two].map(({ id }) => hasHandover(ben.store, id))).toEqual([true, true]);
  });

  test('a damaged page that is the newest is no sign of an old backup', async () => {
    const { ada, ben, folder, remote } = await makePair();
    const saved = save(ada, 'first');
    await sync(ada, remote);
    const path = join(folder, 'pages', nameWriter(ada.keys.secret), PROJECT.id, '1');
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.subarray(0, 300));
    for (const member of [ben, ada, ben, ada])
      expect((await sync(member, remote)).notes.join()).not.toContain('behind');
    writeFileSync(path, bytes);
    await sync(ben, remote);
    expect(hasHandover(ben.store, saved.id)).toBe(true);
  });

  test('a page that vanished is said by every sync, and taken once it is back', async () => {
    const { ada, ben, folder, remote } = await makePair();
    const saved = save(ada, 'first');
    await sync(ada, remote);
    const [writer = ''] = readdirSync(join(folder, 'pages'));
    const path = join(folder, 'pages', writer, PROJECT.id, '1');
    const bytes = readFileSync(path);
    rmSync(path);
    for (const _ of [1, 2]) {
      const { missing, notes } = await sync(ben, remote);
      expect(missing).toBe(1);
      expect(notes.join()).toContain('missing or damaged');
    }
    writeFileSync(path, bytes);
    expect((await sync(ben, remote)).missing).toBe(0);
    expect(hasHandover(ben.store, saved.id)).toBe(true);
  });

  test('writers that somebody made up cost few requests, and those who are real are asked for once', async () => {
    const { ada, remote } = await makePair();
    const [cara, dan] = [await makeMember('cara', 7), await makeMember('dan', 8)];
    for (const stranger of [cara, dan]) {
      save(stranger, `of ${stranger.name}`);
      await sync(stranger, remote);
    }
    const real = await remote.listLogs();
    const made = Array.from({ length: 2000 }, (_, at) => {
      // After every real one, which are asked for in the order of their names.
      const writer = String(at % 500).padStart(32, 'f');
      return { writer, project: `p-${String(at).padStart(16, '0')}`, newest: 1, digest: '0'.repeat(64) };
    });
    let read = 0;
    const liar: Remote = {
      ...remote,
      listLogs: async () => [...real, ...made],
      readPages: async (log, options) => {
        read++;
        return log.writer.startsWith('f'.repeat(20))
          ? [{ number: 1, bytes: Buffer.from('nonsense') }]
          : await remote.readPages(log, options);
      },
    };
    const first = await sync(ada, liar);
    expect(first.waiting.map(({ name, pages }) => [name, pages]).sort()).toEqual([
      ['cara', 1],
      ['dan', 1],
    ]);
    expect(first.notes.join()).toContain('500 more writers');
    expect(read).toBeLessThan(500);
    read = 0;
    const { waiting } = await sync(ada, { ...liar, listLogs: async () => real });
    expect([waiting.length, read]).toEqual([2, 0]);
  });

  test('garbage in the place of our first page does not stop us', async () => {
    const { ada, ben, folder, remote } = await makePair();
    const pages = join(folder, 'pages', nameWriter(ada.keys.secret), PROJECT.id);
    mkdirSync(pages, { recursive: true });
    writeFileSync(join(pages, '1'), 'garbage');
    const saved = save(ada, 'first');
    await sync(ada, remote);
    await sync(ben, remote);
    expect(hasHandover(ben.store, saved.id)).toBe(true);
  });

  test('garbage in the place of our next page does not stop us', async () => {
    const { ada, ben, folder, remote } = await makePair();
    const one = save(ada, 'first');
    await sync(ada, remote);
    const [writer = ''] = readdirSync(join(folder, 'pages'));
    writeFileSync(join(folder, 'pages', writer, PROJECT.id, '2'), 'garbage');
    const two = save(ada, 'second');
    await sync(ada, remote);
    await sync(ben, remote);
    expect([one, two].map(({ id }) => hasHandover(ben.store, id))).toEqual([true, true]);
  });
});
