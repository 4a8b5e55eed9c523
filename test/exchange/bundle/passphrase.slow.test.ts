import { describe, expect, it } from 'vitest';
import { findRefusal, forge, makePerson, makeUnknownKey, send, trust } from '../../support/bundles.ts';

describe('an encrypted bundle', () => {
  it('is refused by its signature before a passphrase is asked for', async () => {
    const [alice, bob] = [await makePerson('alice'), await makePerson('bob', 7)];
    trust(bob, alice);
    const locked = await send(alice, undefined, { lock: { passphrase: Buffer.from('correct horse') } });
    let asked = false;
    const opener = {
      identities: [],
      askPassphrase: async () => {
        asked = true;
        return Buffer.from('x');
      },
    };
    expect((await findRefusal(bob, forge(locked, makeUnknownKey()), { opener }))?.message).toMatch(/signature/);
    expect(asked).toBe(false);
    expect(await findRefusal(bob, locked, { passphrase: 'wrong horse' })).toMatchObject({
      code: 'HANDOVER_BUNDLE_LOCKED',
    });
    expect(await findRefusal(bob, locked, { passphrase: 'correct horse' })).toBeNull();
  });
});
