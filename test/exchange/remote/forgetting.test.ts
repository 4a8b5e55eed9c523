import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { trustKey } from '../../../src/exchange/bundle/trust-list.ts';
import { expireHandover, forgetHandover, hasHandover } from '../../../src/store/handovers.ts';
import { appendEntry } from '../../../src/store/journal.ts';
import { markFact, readMarks } from '../../../src/store/marks.ts';
import {
  type Member,
  makeMember,
  makePair,
  makeTeam,
  openSharedFolder,
  PROJECT,
  readAll,
  save,
  sync,
} from '../../support/syncing.ts';
import { makeFolder } from '../../support/temp-store.ts';

describe('forgetting', () => {
  test('is followed by others, removes the content from the remote, and holds for stores that come later', async () => {
    const { ada, ben, folder, remote } = await makePair();
    const saved = save(ada, 'a regretted sentence');
    const kept = save(ada, 'a kept one');
    await sync(ada, remote);
    await sync(ben, remote);
    forgetHandover(ada.store, saved.id);
    expect((await sync(ada, remote)).sent.forgotten).toBe(1);
    expect(readAll(folder)).not.toContain('a regretted sentence');
    expect((await sync(ben, remote)).received.forgotten).toBe(1);
    expect(hasHandover(ben.store, saved.id)).toBe(false);
    const cleo = await makeMember('cleo', 3);
    trustKey(cleo.store.machine, ada.keys.secret, 'ada');
    const { notes, missing } = await sync(cleo, remote);
    expect([hasHandover(cleo.store, saved.id), hasHandover(cleo.store, kept.id)]).toEqual([false, true]);
    expect([notes, missing]).toEqual([[], 0]);
  });

  test('by somebody else is said and not followed; by the same person it is', async () => {
    const { ada, ben, remote } = await makePair();
    const saved = save(ada, 'the parser');
    await sync(ada, remote);
    await sync({ ...ben, self: ['ada'] }, remote);
    forgetHandover(ben.store, saved.id);
    await sync({ ...ben, self: ['ada'] }, remote);
    const { notes } = await sync(ada, remote);
    expect(notes.join()).toContain('ben forgot');
    expect(hasHandover(ada.store, saved.id)).toBe(true);
    await sync({ ...ada, self: ['ben'] }, remote);
    expect(hasHandover(ada.store, saved.id)).toBe(false);
  });

  test('by the same person elsewhere holds for all, also when the store that made it was put back to before that', async () => {
    const [ada, home, ben] = await makeTeam('ada', 'home', 'ben');
    if (ada === undefined || home === undefined || ben === undefined) throw new Error('a team of three');
    Object.assign(ada, { self: ['home'] });
    Object.assign(home, { self: ['ada'] });
    const remote = openSharedFolder(join(makeFolder(), 'shared'), ada.store.machine);
    await sync(ada, remote);
    cpSync(ada.store.root, `${ada.store.root}.backup`, { recursive: true });
    const saved = save(ada, 'the parser');
    for (const member of [ada, home, ben]) await sync(member, remote);
    forgetHandover(home.store, saved.id);
    await sync(home, remote);
    rmSync(ada.store.root, { recursive: true });
    cpSync(`${ada.store.root}.backup`, ada.store.root, { recursive: true });
    // What came in the first is sent on by the second.
    for (const member of [ada, ada, ben]) await sync(member, remote);
    for (const { store } of [ada, home, ben]) expect(hasHandover(store, saved.id)).toBe(false);
    for (const member of [ada, home, ben])
      expect((await sync(member, remote)).sent).toEqual({ handovers: 0, marks: 0, forgotten: 0 });
  });

  test('what only became too old here stays with the others', async () => {
    const { ada, ben, remote } = await makePair();
    const saved = save(ada, 'the parser');
    await sync(ada, remote);
    await sync(ben, remote);
    expireHandover(ada.store, saved.id, 'older than 90 days');
    await sync(ada, remote);
    await sync(ben, remote);
    expect([hasHandover(ada.store, saved.id), hasHandover(ben.store, saved.id)]).toEqual([false, true]);
  });
});

test('the reason of a mark does not leave once the handover was forgotten', async () => {
  const { ada, folder, remote } = await makePair();
  const { id, project } = save(ada, 'About tariffs');
  const detail = { project: project.id };
  appendEntry(ada.store, { event: 'refuted', subject: id, fact: 'f-0123456789', reason: 'zanzibar', detail });
  expect(forgetHandover(ada.store, id)).toBe(true);
  expect((await sync(ada, remote)).sent).toMatchObject({ marks: 1, forgotten: 1 });
  expect(readAll(folder)).not.toContain('zanzibar');
});

test('the reason of a mark is shown until its handover is forgotten, and stays where that was only too old', async () => {
  const { ada, ben, remote } = await makePair();
  const marked = save(ada, 'Tariffs');
  const [fact] = marked.facts;
  if (fact === undefined) throw new Error('a handover without facts');
  markFact(ada.store, { handover: marked, fact }, { mark: 'refuted', because: 'zanzibar', by: 'human' });
  await sync(ada, remote);
  await sync(ben, remote);
  const tell = ({ store }: Member) => readMarks(store, PROJECT.id).get(fact.id);
  for (const member of [ada, ben]) expect(tell(member)).toMatchObject({ mark: 'refuted', because: 'zanzibar' });
  expect(forgetHandover(ada.store, marked.id)).toBe(true);
  expect(tell(ada)).toMatchObject({ mark: 'refuted', because: null });
  await sync(ada, remote);
  await sync(ben, remote);
  expect(tell(ben)).toMatchObject({ mark: 'refuted', because: null });

  const old = save(ada, 'Old');
  const [step] = old.facts;
  if (step === undefined) throw new Error('a handover without facts');
  markFact(ada.store, { handover: old, fact: step }, { mark: 'resolved', because: 'done in May', by: 'human' });
  expect(expireHandover(ada.store, old.id, 'old')).toBe(true);
  expect(readMarks(ada.store, PROJECT.id).get(step.id)).toMatchObject({ because: 'done in May' });
});
