import { beforeEach, describe, expect, it } from 'vitest';
import { toRecipient } from '../../../src/exchange/bundle/age.ts';
import { findRefusal, forge, makePerson, type Person, receive, send, takeApart, trust } from '../../support/bundles.ts';
import { NOON, saveOne } from '../../support/temp-store.ts';

let alice: Person;
let bob: Person;
let bundle: Buffer;

beforeEach(async () => {
  alice = await makePerson('alice');
  bob = await makePerson('bob', 7);
  trust(bob, alice);
  bundle = await send(alice);
});

describe('a series of bundles', () => {
  it('does not accept the same bundle twice', async () => {
    await receive(bob, bundle);
    expect((await findRefusal(bob, bundle))?.message).toBe('this bundle was imported before (number 1)');
    expect(await findRefusal(bob, bundle, { allowOlder: true })).toBeNull();
  });

  it('does not accept an older bundle', async () => {
    const second = await send(alice);
    await receive(bob, second);
    const refusal = await findRefusal(bob, bundle);
    expect(refusal?.message).toBe('the bundle is number 1 of its series, and number 2 was imported before');
    expect(await receive(bob, bundle, { allowOlder: true })).toMatchObject({
      handovers: [{ outcome: 'imported' }],
    });
    expect((await findRefusal(bob, second))?.message).toMatch(/imported before/);
  });

  it('may have gaps: not everything was sent to everybody', async () => {
    await receive(bob, bundle);
    await send(alice);
    expect(await findRefusal(bob, await send(alice))).toBeNull();
  });

  it('does not accept a fork', async () => {
    await receive(bob, bundle);
    const second = await send(alice);
    const { origin } = takeApart(second).parsed;
    if (origin === null) throw new Error('it is not signed');
    const fork = forge(second, alice.keys.secret, {
      manifest: { origin: { ...origin, previous: 'a'.repeat(64) } },
    });
    expect((await findRefusal(bob, fork))?.message).toMatch(/does not follow/);
  });

  it('does not accept an expired bundle', async () => {
    const late = await send(alice, undefined, { expiresAt: new Date(NOON + 1000).toISOString() });
    const { machine } = bob.store;
    const at = (ms: number) => ({ machine: { ...machine, clock: { now: () => ms } } });
    expect((await findRefusal(bob, late, at(NOON + 1001)))?.message).toMatch(/expired/);
    expect(await findRefusal(bob, late, at(NOON + 1000))).toBeNull();
  });

  it('is numbered separately for each project', async () => {
    const other = { project: { id: 'p-1111111111111111', name: 'other', remote: null } };
    const [first, second] = [saveOne(alice.store, 'a'), saveOne(alice.store, 'b', other)];
    const places = [await send(alice, [first]), await send(alice, [second]), await send(alice, [first, second])].map(
      (bytes) => takeApart(bytes).parsed.origin,
    );
    expect(places.map((place) => place?.sequence)).toEqual([2, 1, 1]);
    expect(new Set(places.map((place) => place?.series)).size).toBe(3);
  });
});

describe('an encrypted bundle', () => {
  const HUGE = 'age-encryption.org/v1\n-> scrypt AAAAAAAAAAAAAAAAAAAAAA 30\n';
  const lockedWith = (head: string): Buffer => {
    const content = Buffer.from(`${head}${'A'.repeat(43)}\n--- ${'A'.repeat(43)}\n${'x'.repeat(64)}`);
    const { parsed } = takeApart(bundle);
    const manifest = { ...parsed, content: { name: 'handovers.jsonl.age', sha256: '' } } as const;
    return forge(bundle, alice.keys.secret, { content, manifest });
  };

  it.each([
    ['a huge cost', /passphrase cost/, HUGE],
    ['a tiny cost', /passphrase cost/, HUGE.replace(' 30', ' 1')],
    ['a cost that is no number', /passphrase stanza/, HUGE.replace(' 30', ' 0x12')],
    ['a short salt', /passphrase stanza/, HUGE.replace('AAAAAAAAAAAAAAAAAAAAAA', 'AAAA')],
    [
      'two passphrases',
      /passphrase stanza/,
      `${HUGE.replace(' 30', ' 15')}${'A'.repeat(43)}\n-> scrypt AAAAAAAAAAAAAAAAAAAAAA 15\n`,
    ],
    ['no recipient', /age recipients/, 'age-encryption.org/v1\n'],
    ['a thousand recipients', /age recipients/, `age-encryption.org/v1\n${'-> X25519 AAAA\nAAAA\n'.repeat(1000)}`],
    ['another version', /age header/, HUGE.replace('v1', 'v2')],
  ])('with %s is refused before any key is derived', async (_, says, head) => {
    expect((await findRefusal(bob, lockedWith(head), { passphrase: 'correct horse' }))?.message).toMatch(says);
  });

  it('opens for each of its recipients, and for no one else', async () => {
    const lock = {
      recipients: [await toRecipient(bob.keys.identity), await toRecipient(alice.keys.identity)],
    };
    const locked = await send(alice, undefined, { lock });
    const carol = await makePerson('carol', 9);
    trust(carol, alice);
    expect(await findRefusal(carol, locked)).toMatchObject({ code: 'HANDOVER_BUNDLE_LOCKED' });
    expect(await findRefusal(bob, locked)).toBeNull();
    expect(takeApart(locked).content.includes('the work')).toBe(false);
  });
});
