import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HandoverError } from '../../../src/errors.ts';
import {
  CONTENT_NAMES,
  formatArchive,
  formatManifest,
  type Manifest,
  parseArchive,
  parseManifest,
} from '../../../src/exchange/bundle/archive.ts';
import {
  formatPublicKey,
  formatPublicKeyFile,
  formatSecretKeyFile,
  makeSecretKey,
  parsePublicKey,
  parseSecretKey,
  parseSignature,
  signFile,
  verifyFile,
} from '../../../src/exchange/bundle/minisign.ts';
import { prepareExport } from '../../../src/exchange/bundle/prepare-export.ts';
import { formatTimestamp } from '../../../src/model/time.ts';
import { Redactor } from '../../../src/redact/redactor.ts';
import { makeDraft, makeFact, sealDraft } from '../../support/facts.ts';
import { makeMachine } from '../../support/temp-store.ts';

const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((array) => Buffer.from(array));
const secret = fc.tuple(bytes(32), bytes(8)).map(([seed, id]) => makeSecretKey(seed, id));
const time = fc.integer({ min: 0, max: 4e12 }).map(formatTimestamp);
const hex = fc.stringMatching(/^[0-9a-f]{64}$/);

const manifest: fc.Arbitrary<Manifest> = fc.record({
  created_at: time,
  expires_at: fc.option(time),
  origin: fc.option(
    fc.record({
      signer: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._@+-]{4,40}$/),
      key: secret.map(({ id, key }) => ({ id, key })),
      series: fc.stringMatching(/^[0-9a-z]{16}$/),
      sequence: fc.integer({ min: 1, max: 1e12 }),
      previous: fc.option(hex),
    }),
  ),
  handovers: fc.integer({ min: 1, max: 1000 }),
  content: fc.record({ name: fc.constantFrom(...CONTENT_NAMES), sha256: hex }),
});

describe('a manifest', () => {
  it('is read back as it was written', () => {
    fc.assert(fc.property(manifest, (value) => void expect(parseManifest(formatManifest(value))).toEqual(value)));
  });

  it('has one valid text for its content: what is accepted is what would be written', () => {
    fc.assert(
      fc.property(manifest, fc.nat(), fc.string({ unit: 'binary', maxLength: 3 }), (value, at, by) => {
        const text = formatManifest(value);
        const changed = text.slice(0, at % text.length) + by + text.slice((at % text.length) + by.length);
        const parsed = parseManifest(changed);
        if (!('wrong' in parsed)) expect(formatManifest(parsed)).toBe(changed);
      }),
    );
  });
});

describe('an archive', () => {
  const archive = fc.record({
    manifest: fc.uint8Array({ maxLength: 1200 }).map((array) => Buffer.from(array)),
    signature: fc.option(fc.uint8Array({ maxLength: 600 }).map((array) => Buffer.from(array))),
    content: fc.uint8Array({ maxLength: 1200 }).map((array) => Buffer.from(array)),
    contentName: fc.constantFrom(...CONTENT_NAMES),
  });

  it('is unpacked as it was packed', () => {
    fc.assert(fc.property(archive, (parts) => void expect(parseArchive(formatArchive(parts))).toEqual(parts)));
  });

  it('has no byte that can change unnoticed', () => {
    fc.assert(
      fc.property(archive, fc.nat(), fc.integer({ min: 1, max: 255 }), (parts, place, change) => {
        const packed = formatArchive(parts);
        const at = place % packed.length;
        packed[at] = (packed[at] ?? 0) ^ change;
        expect(
          isRefused(() => parseArchive(packed)) || !formatArchive(parts).equals(formatArchive(parseArchive(packed))),
        ).toBe(true);
      }),
    );
  });
});

function isRefused(work: () => unknown): boolean {
  try {
    work();
    return false;
  } catch (error) {
    if (error instanceof HandoverError) return true;
    throw error;
  }
}

describe('keys and signatures of bundles', () => {
  it('are read back as they were written', () => {
    fc.assert(
      fc.property(secret, (key) => {
        expect(parseSecretKey(formatSecretKeyFile(key))).toEqual(key);
        for (const text of [formatPublicKey(key), formatPublicKeyFile(key)])
          expect(parsePublicKey(text)).toEqual({ id: key.id, key: key.key });
      }),
      { numRuns: 30 },
    );
  });

  it('are valid only for the bytes and the comment that were signed', () => {
    fc.assert(
      fc.property(secret, fc.uint8Array({ maxLength: 200 }), fc.nat(), (key, data, place) => {
        const text = signFile(data, key, { untrusted: 'x', trusted: 'y' });
        const signature = parseSignature(text);
        if (signature === null) throw new Error('it cannot be read');
        expect(verifyFile(data, signature, key)).toBe(true);
        expect(verifyFile(Buffer.concat([data, Buffer.from('x')]), signature, key)).toBe(false);
        expect(verifyFile(data, { ...signature, trustedComment: 'z' }, key)).toBe(false);
        const flipped = Buffer.from(signature.signature);
        flipped[place % 64] = (flipped[place % 64] ?? 0) ^ 1;
        expect(verifyFile(data, { ...signature, signature: flipped }, key)).toBe(false);
      }),
      { numRuns: 30 },
    );
  });
});

describe('text prepared for export', () => {
  const machine = makeMachine('/home/ann');
  const root = join('/home/ann/home', 'shop');
  const glue = fc.constantFrom('', ' ', '/', '\n', '"', ':12', 'x', '-', '../', '/src/a.ts', '(');

  it('names neither the home folder nor the project folder of the sender', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(glue, fc.constantFrom(root, '/home/ann/home', '~/shop')), { maxLength: 5 }),
        glue,
        (parts, end) => {
          const text = `${parts.flat().join('')}${end}.`;
          const handover = sealDraft(
            makeDraft([makeFact('note', text, { detail: { [text]: text } })], {
              summary: text,
              workspace: { root: '~/shop', folder: '', worktree: 'w', git: null },
            }),
          );
          const left = JSON.stringify(prepareExport(handover, { machine, only: null, redactor: makeRedactor() }));
          expect(left).not.toMatch(/\/home\/ann\/home(?!\w)/);
        },
      ),
    );
  });
});

function makeRedactor(): Redactor {
  return new Redactor({ key: () => new Uint8Array(32) });
}
