import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { idOfKey, makeSecretKey, signBytes } from '../../../src/exchange/bundle/minisign.ts';
import { trustKey } from '../../../src/exchange/bundle/trust-list.ts';
import {
  type BundleRecord,
  deriveSessionHandoffKey,
  encryptSessionHandoff,
  formatGoRecord,
  formatSessionHandoffBundle,
  indentJson,
  readSessionHandoffBundle,
} from '../../../src/exchange/legacy/session-handoff-bundle.ts';
import { computeV2Checksum } from '../../../src/exchange/legacy/v2-envelope.ts';
import { sha256Hex } from '../../../src/model/hash.ts';
import { readHandover } from '../../../src/store/handovers.ts';
import { findRefusal, makePerson, type Person, receive } from '../../support/bundles.ts';

const G1: BundleRecord = {
  id: '20260101-000000',
  created_at: '2026-01-01T00:00:00Z',
  tool: 'codex',
  project: '/p',
  title: '\u00fcn\u00efcode \ud83d\ude00 <a>&b</a>',
  summary: 'tab\tnl\nbs\bff\fcr\r soh\u0001 del\u007f ls\u2028ps\u2029 "q" \\ / end',
  next: [],
  changed: ['a -> b', '\u017c/x'],
};
const G1_SUM = '8e1b649dedae72882b4ae8d2287456796710610e7091bb40bcfb5b71d46527b5';
const SEED = Buffer.from(Array.from({ length: 32 }, (_, at) => at));
const SECRET = makeSecretKey(SEED, idOfKey(makeSecretKey(SEED, Buffer.alloc(8)).key));
const SIGNATURE = '7ttrXZdvUaxx3wTtcxRRopcSYw1SAU2ZGI5U42esZvRZPW6qkITsJ4BhWpaRpRd5sksgUmrnL6FIukIm7H0MDw==';

describe('the vectors of session-handoff', () => {
  it('G1: the canonical record and its checksum', () => {
    const text = formatGoRecord(G1);
    expect(Buffer.byteLength(text)).toBe(274);
    expect(sha256Hex(text)).toBe(G1_SUM);
  });

  it('G2: the public key, its id and the signature of G1', () => {
    expect(SECRET.key.toString('base64')).toBe('A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=');
    expect(SECRET.id.toString('hex')).toBe('56475aa75463474c');
    expect(signBytes(Buffer.from(G1_SUM), SECRET).toString('base64')).toBe(SIGNATURE);
    expect(JSON.parse(formatSessionHandoffBundle(G1, { name: 'ann', secret: SECRET }))).toEqual({
      version: 3,
      checksum: G1_SUM,
      signer: {
        name: 'ann',
        key_id: '56475aa75463474c',
        public_key: 'A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=',
      },
      signature: SIGNATURE,
      record: { ...G1, changed: G1.changed },
    });
  });

  it('G3: the derived key and the ciphertext', () => {
    const passphrase = Buffer.from('correct horse');
    const salt = Buffer.from(Array.from({ length: 16 }, (_, at) => at));
    const nonce = Buffer.from(Array.from({ length: 12 }, (_, at) => at));
    expect(deriveSessionHandoffKey(passphrase, salt).toString('hex')).toBe(
      '5c662628ac4eb1068a287e2aa2a202ae248e98db04d61d3327e7342db6ec7097',
    );
    expect(JSON.parse(encryptSessionHandoff(Buffer.from('{}'), passphrase, { salt, nonce }))).toEqual({
      version: 1,
      algorithm: 'aes-256-gcm',
      kdf: 'scrypt(N=32768,r=8,p=1)',
      salt: salt.toString('base64'),
      nonce: nonce.toString('base64'),
      ciphertext: 'kGARnWMLkoXHpJCHyEBZWide',
    });
  });

  it('P1: the checksum of a V2 envelope', () => {
    const envelope = {
      decision_register: [],
      evidence_index: [],
      resume_snapshot: {
        goal: '\u00fcber \ud83d\ude00 del\u007f "q"',
        quality_score: 0.9,
        schema_version: 2,
      },
      schema_version: 1,
    };
    expect(computeV2Checksum(envelope)).toBe('sha256:48cd9a5b453a43946da997f292dd4d5bea52b027bea52c5df677122e0bb47a0c');
  });
});

describe('JSON as Go writes it', () => {
  const texts = fc.string({ unit: 'binary', maxLength: 40 });

  it('parses to the same value, for any text', () => {
    fc.assert(
      fc.property(texts, texts, fc.array(texts, { maxLength: 3 }), (title, summary, next) => {
        const record = { ...G1, title, summary, next, changed: [] };
        const parsed: unknown = JSON.parse(formatGoRecord(record));
        const { changed: _, ...expected } = record;
        expect(parsed).toEqual({
          ...expected,
          title: title.toWellFormed(),
          summary: summary.toWellFormed(),
          next: next.map((text) => text.toWellFormed()),
        });
      }),
    );
  });

  it('is indented as JSON.stringify does it, but for the escapes', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        const compact = JSON.stringify(JSON.parse(json));
        expect(indentJson(compact)).toBe(JSON.stringify(JSON.parse(json), null, 2));
      }),
    );
  });
});

function makeRecord(parts: Partial<BundleRecord> = {}): BundleRecord {
  return {
    id: '20260101-000000',
    created_at: '2026-01-01T00:00:00Z',
    tool: 'codex',
    project: '/home/ann/shop',
    title: 'Retries',
    summary: 'Retries raised to 5',
    next: ['Write the test'],
    changed: ['src/a.ts'],
    ...parts,
  };
}

function signed(record: BundleRecord = makeRecord()): Record<string, unknown> {
  return JSON.parse(formatSessionHandoffBundle(record, { name: 'ann', secret: SECRET }));
}

function unsigned(record: BundleRecord = makeRecord()): Record<string, unknown> {
  return JSON.parse(formatSessionHandoffBundle(record, null));
}

const toBytes = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value, null, 2)}\n`);

async function makeBob(): Promise<Person> {
  const bob = await makePerson('bob');
  trustKey(bob.store.machine, SECRET, 'ann');
  return bob;
}

describe('a bundle of session-handoff', () => {
  it('of version 3 by a trusted key is imported, with its signer', async () => {
    const bob = await makeBob();
    const done = await receive(bob, toBytes(signed()));
    expect(done).toMatchObject({
      signer: { name: 'ann' },
      handovers: [{ id: '20260101-000000', outcome: 'imported' }],
    });
    const kept = readHandover(bob.store, '20260101-000000');
    expect(kept).toMatchObject({
      title: 'Retries',
      project: { name: 'shop' },
      workspace: { root: '.' },
      imported: { format: 'session-handoff/1', id: '20260101-000000', signer: { name: 'ann' } },
      facts: [
        { kind: 'next', text: 'Write the test', trust: 'imported', origin: 'import' },
        { kind: 'file', text: 'src/a.ts', trust: 'imported', origin: 'import' },
      ],
    });
    expect(JSON.stringify(kept)).not.toContain('/home/ann');
  });

  it('that is encrypted is imported with its passphrase, and with no other', async () => {
    const bob = await makeBob();
    const plain = Buffer.from(formatSessionHandoffBundle(makeRecord(), { name: 'ann', secret: SECRET }));
    const seed = { salt: Buffer.alloc(16, 1), nonce: Buffer.alloc(12, 2) };
    const locked = Buffer.from(encryptSessionHandoff(plain, Buffer.from('correct horse'), seed));
    expect(await findRefusal(bob, locked)).toMatchObject({ code: 'HANDOVER_BUNDLE_LOCKED' });
    expect(await findRefusal(bob, locked, { passphrase: 'wrong horse' })).toMatchObject({
      code: 'HANDOVER_BUNDLE_LOCKED',
    });
    expect(await receive(bob, locked, { passphrase: 'correct horse' })).toMatchObject({
      signer: { name: 'ann' },
    });
  });

  it('with null steps and one without steps have different checksums, and both are read', async () => {
    const bob = await makeBob();
    for (const next of [null, []]) {
      const record = makeRecord({ next, title: `steps ${next}` });
      expect(readSessionHandoffBundle(signed(record)).record.next).toEqual(next);
    }
    const swapped = { ...signed(makeRecord({ next: null })), record: makeRecord({ next: [] }) };
    expect(await findRefusal(bob, toBytes(swapped))).toMatchObject({
      message: expect.stringContaining('checksum'),
    });
  });

  it('without a signature is imported when that is allowed, without a signer', async () => {
    const bob = await makeBob();
    const done = await receive(bob, toBytes(unsigned()), { allowUnsigned: true });
    expect(done).toMatchObject({ signer: null, missing: ['a signature'] });
    expect(readHandover(bob.store, '20260101-000000')?.imported?.signer).toBeNull();
  });
});

describe('a bundle that session-handoff would have accepted', () => {
  it('SH-1: a downgrade to version 1 or below is refused', async () => {
    const bob = await makeBob();
    for (const version of [1, 0, -7, 2]) {
      const stripped = { version, record: makeRecord() };
      expect(await findRefusal(bob, toBytes(stripped)), `${version}`).not.toBeNull();
    }
    expect(
      await findRefusal(bob, toBytes({ version: -7, record: makeRecord() }), { allowUnsigned: true }),
    ).toMatchObject({ message: expect.stringContaining('version') });
    expect(await receive(bob, toBytes({ version: 1, record: makeRecord() }), { allowUnsigned: true })).toMatchObject({
      missing: ['a signature', 'a checksum'],
    });
  });

  it('SH-1: version 3 relabelled as 2 is refused as unsigned', async () => {
    const bob = await makeBob();
    const relabelled = { ...signed(), version: 2 };
    expect(await findRefusal(bob, toBytes(relabelled))).toMatchObject({ code: 'HANDOVER_BUNDLE_REFUSED' });
    const taken = await receive(bob, toBytes(relabelled), { allowUnsigned: true, dryRun: true });
    expect(taken.missing).toEqual(['the version that its signature needs (it says 2)', 'a signature']);
    expect(taken.signer).toBeNull();
  });

  it('SH-2: a key inside the bundle is not trusted, and the name is the one on the trust list', async () => {
    const bob = await makePerson('bob');
    expect(await findRefusal(bob, toBytes(signed()))).toMatchObject({
      code: 'HANDOVER_BUNDLE_REFUSED',
      message: expect.stringContaining('not known here'),
    });
    trustKey(bob.store.machine, SECRET, 'ann');
    const renamed = signed();
    renamed.signer = {
      name: 'the boss',
      key_id: 'ffffffffffffffff',
      public_key: SECRET.key.toString('base64'),
    };
    expect(await receive(bob, toBytes(renamed))).toMatchObject({ signer: { name: 'ann' } });
  });

  it('SH-2: a known name with another key is a hard stop that shows both', async () => {
    const bob = await makeBob();
    const other = makeSecretKey(Buffer.alloc(32, 9), Buffer.alloc(8));
    const posing = JSON.parse(formatSessionHandoffBundle(makeRecord(), { name: 'ann', secret: other }));
    const refusal = await findRefusal(bob, toBytes(posing), { allowUnsigned: true });
    expect(refusal?.message).toMatch(
      /the key of ann has changed\n {2}known key: +[0-9a-f ]{39}\n {2}other key: +[0-9a-f ]{39}/,
    );
  });

  it('SH-3: unknown versions are refused whatever is allowed', async () => {
    const bob = await makeBob();
    for (const version of [99, 4, 1.5, Number.MAX_SAFE_INTEGER])
      for (const allowUnsigned of [false, true])
        expect(await findRefusal(bob, toBytes({ ...signed(), version }), { allowUnsigned })).toMatchObject({
          code: 'HANDOVER_BUNDLE_INVALID',
          message: expect.stringContaining('version'),
        });
  });

  it.each([
    ['algorithm', { algorithm: 'aes-128-ecb' }],
    ['kdf', { kdf: 'scrypt(N=1073741824,r=8,p=1)' }],
    ['version', { version: 2 }],
    ['nonce', { nonce: Buffer.alloc(11).toString('base64') }],
    ['nonce', { nonce: '' }],
    ['salt', { salt: Buffer.alloc(8).toString('base64') }],
    ['ciphertext', { ciphertext: 'AAAA' }],
    ['ciphertext', { ciphertext: 7 }],
  ])(
    'SH-4: a wrong %s of the encrypted header is refused before any passphrase is asked for',
    async (field, change) => {
      const bob = await makeBob();
      const seed = { salt: Buffer.alloc(16, 1), nonce: Buffer.alloc(12, 2) };
      const header = JSON.parse(encryptSessionHandoff(Buffer.from('{}'), Buffer.from('correct horse'), seed));
      expect(await findRefusal(bob, toBytes({ ...header, ...change }))).toEqual({
        code: 'HANDOVER_BUNDLE_INVALID',
        message: expect.stringContaining(field),
      });
    },
  );
});

const FIELDS = ['tool', 'project', 'title', 'summary'] as const;
const anyToken = fc.string({
  unit: fc.constantFrom(...'abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'),
  minLength: 36,
  maxLength: 36,
});

describe.each(FIELDS)('a secret in the field %s', (field) => {
  it.each<[string, (token: string) => string]>([
    ['over several lines', (token) => `kind: Secret\nstringData:\n  one: |\n    ${token}\n`],
    ['where the field is cut', (token) => `the upload of the shop waits for the server at night and uses ghp_${token}`],
  ])('is not stored: %s', async (_, write) => {
    await fc.assert(
      fc.asyncProperty(anyToken, fc.integer({ min: 0, max: 60 }), async (token, before) => {
        const bob = await makeBob();
        const text = `${'x'.repeat(before)} ${write(token)}`;
        const value = field === 'project' ? `/home/ann/${text}` : text;
        await receive(bob, toBytes(unsigned(makeRecord({ [field]: value }))), { allowUnsigned: true });
        const stored = JSON.stringify(readHandover(bob.store, '20260101-000000'));
        expect(stored).toContain('imported');
        expect(stored).not.toContain(token.slice(0, 8));
      }),
      { numRuns: 15 },
    );
  });
});
