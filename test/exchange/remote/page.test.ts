import { randomBytes } from 'node:crypto';
import { array, assert, asyncProperty, constantFrom, integer, property, record, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { generateAgeKey } from '../../../src/exchange/bundle/age.ts';
import { generateSecretKey, type SecretKey, signFile } from '../../../src/exchange/bundle/minisign.ts';
import {
  formatPage,
  nameWriter,
  openEntries,
  type PageEntry,
  parsePage,
  SYNCED_EVENTS,
} from '../../../src/exchange/remote/page.ts';
import { canonicalize, computeChecksum } from '../../../src/model/hash.ts';

const secret = generateSecretKey(randomBytes);
const writer = nameWriter(secret);
const project = 'p-0123456789abcdef';
const at = '2026-01-31T12:00:00.000Z';
const signer = { name: 'ada', secret };
const nobody = { identities: [], askPassphrase: async () => Buffer.of() };

const id = integer({ min: 0, max: 0xffff }).map((n) => `20260131-120000-${n.toString(16).padStart(4, '0')}`);
const handover = id.map(
  (one): PageEntry => ({ kind: 'handover', id: one, body: `${one}-${'0'.repeat(32)}`, bytes: 10, at }),
);
const forgotten = id.map((one): PageEntry => ({ kind: 'forgotten', id: one, at }));
const journal = record({
  subject: id,
  event: constantFrom(...SYNCED_EVENTS),
  reason: string({ unit: 'grapheme' }),
}).map((parts): PageEntry => {
  const draft = { schema: 'journal/1' as const, at, ...parts, detail: { project } };
  return { kind: 'journal', entry: { ...draft, checksum: computeChecksum(draft) } };
});
const entries = array(
  integer({ min: 0, max: 2 }).chain((kind) => [handover, forgotten, journal][kind] ?? forgotten),
  { maxLength: 20 },
);

async function make(list: readonly PageEntry[], number = 1): Promise<Buffer> {
  const previous = number === 1 ? null : 'a'.repeat(64);
  return await formatPage({ project, number, previous, at, entries: list }, signer, []);
}

function wrongOf(bytes: Buffer, place = { writer, project, number: 1 }): string | null {
  const page = parsePage(bytes, place);
  return 'wrong' in page ? page.wrong : null;
}

describe('a page', () => {
  test('says the same after it was written and read', async () => {
    await assert(
      asyncProperty(entries, integer({ min: 1, max: 9 }), async (list, number) => {
        const page = parsePage(await make(list, number), { writer, project, number });
        expect(page).toMatchObject({ content: list, writer, project, number, signer: 'ada' });
      }),
      { numRuns: 100 },
    );
  });

  test('is opened by its recipients and by nobody else', async () => {
    const [ours, theirs] = [await generateAgeKey(), await generateAgeKey()];
    const forgotten = '20260131-120000-aaaa';
    const list: PageEntry[] = [{ kind: 'forgotten', id: forgotten, at }];
    const draft = { project, number: 1, previous: null, at, entries: list };
    const bytes = await formatPage(draft, signer, [ours.recipient]);
    expect(bytes.toString('latin1')).not.toContain(forgotten);
    const page = parsePage(bytes, { writer, project, number: 1 });
    if ('wrong' in page) throw new Error(page.wrong);
    expect(await openEntries(page, { ...nobody, identities: [ours.identity] })).toEqual(list);
    expect(await openEntries(page, { ...nobody, identities: [theirs.identity] })).toBeNull();
  });

  test('with any byte changed, added or left out is refused', async () => {
    const bytes = await make([{ kind: 'forgotten', id: '20260131-120000-aaaa', at }]);
    assert(
      property(integer({ min: 0, max: bytes.length - 1 }), integer({ min: 1, max: 255 }), (place, by) => {
        const changed = Buffer.from(bytes);
        changed[place] = (changed[place] ?? 0) ^ by;
        expect(wrongOf(changed)).not.toBeNull();
        expect(wrongOf(bytes.subarray(0, place))).not.toBeNull();
        expect(wrongOf(Buffer.concat([bytes, bytes.subarray(place)]))).not.toBeNull();
      }),
      { numRuns: 300 },
    );
  });

  test('of another place, writer or project is refused', async () => {
    const bytes = await make([]);
    expect(wrongOf(bytes)).toBeNull();
    expect(wrongOf(bytes, { writer, project, number: 2 })).toContain('place');
    expect(wrongOf(bytes, { writer: '0'.repeat(32), project, number: 1 })).toContain('place');
    expect(wrongOf(bytes, { writer, project: 'p-fedcba9876543210', number: 1 })).toContain('place');
  });

  test('whatever is not a page is refused without an exception', () => {
    assert(
      property(array(integer({ min: 0, max: 255 }), { maxLength: 400 }), (list) => {
        expect(wrongOf(Buffer.from(list))).not.toBeNull();
      }),
    );
    expect(wrongOf(Buffer.alloc(2 ** 20 + 1))).toBe('its size');
    expect(wrongOf(Buffer.from(`{"a":${'['.repeat(100_000)}\n`))).toBe('its form');
  });
});

/** A line of whatever, signed correctly. */
function sign(content: object, by: SecretKey = secret): Buffer {
  const line = Buffer.from(canonicalize(content));
  const text = signFile(line, by, { untrusted: 'sync page of agent-handover', trusted: 'x' });
  return Buffer.concat([line, Buffer.from(`\n${text}`)]);
}

describe('a signed page by somebody with bad intentions', () => {
  const head = async () => {
    const [line = ''] = (await make([])).toString('utf8').split('\n');
    const parsed: unknown = JSON.parse(line);
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  };

  test('cannot name bodies by paths, forge entries of the journal or send entries of other kinds', async () => {
    const body = `../../${'0'.repeat(32)}`;
    const draft = { schema: 'journal/1', at, event: 'saved', subject: '20260131-120000-aaaa' };
    for (const entry of [
      { kind: 'handover', id: '20260131-120000-aaaa', body, bytes: 10, at },
      {
        kind: 'handover',
        id: '20260131-120000-aaaa',
        body: `20260131-120000-aaaa-${'0'.repeat(32)}`,
        bytes: 2 ** 40,
        at,
      },
      { kind: 'forgotten', id: '../../../etc/passwd', at },
      { kind: 'journal', entry: { ...draft, checksum: computeChecksum(draft) } },
      { kind: 'journal', entry: { ...draft, event: 'pinned', checksum: '0'.repeat(64) } },
      { kind: 'command', run: 'rm' },
    ])
      expect([entry.kind, wrongOf(sign({ ...(await head()), entries: [entry] }))]).toEqual([entry.kind, 'its form']);
  });

  test('cannot have more entries than a page holds, nor a key that is not its writer’s', async () => {
    const many = Array.from({ length: 201 }, () => ({ kind: 'forgotten', id: '20260131-120000-aaaa', at }));
    expect(wrongOf(sign({ ...(await head()), entries: many }))).toBe('its form');
    const other = generateSecretKey(randomBytes);
    expect(wrongOf(sign(await head(), other))).toBe('its signature');
  });
});
