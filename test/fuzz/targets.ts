import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HandoverError } from '../../src/errors.ts';
import { formatArchive, formatManifest, parseArchive } from '../../src/exchange/bundle/archive.ts';
import { type Import, type ImportOptions, importBundle } from '../../src/exchange/bundle/import-bundle.ts';
import { generateKeys } from '../../src/exchange/bundle/own-keys.ts';
import { packBundle } from '../../src/exchange/bundle/pack.ts';
import { prepareExport } from '../../src/exchange/bundle/prepare-export.ts';
import { trustKey } from '../../src/exchange/bundle/trust-list.ts';
import {
  type BundleRecord,
  encryptSessionHandoff,
  formatGoRecord,
  formatSessionHandoffBundle,
} from '../../src/exchange/legacy/session-handoff-bundle.ts';
import { sha256Hex } from '../../src/model/hash.ts';
import { describeMachine, type Machine } from '../../src/platform/machine.ts';
import { redactFile } from '../../src/redact/redact-stream.ts';
import { Redactor } from '../../src/redact/redactor.ts';
import { openStore } from '../../src/store/store.ts';
import { writeSecrets } from '../fixtures/secrets/write-secrets.ts';
import { saveSample } from '../support/samples.ts';

/** Something that reads what others made. */
export interface Target {
  name: string;
  seeds: readonly Buffer[];
  /** What is done to a changed seed before it is read, so that it gets past the first check. */
  finish(bytes: Buffer): Buffer;
  /** Returns, or throws a coded error. */
  read(bytes: Buffer): Promise<unknown>;
}

export interface Targets {
  targets: Target[];
  /** Cleans up, and returns what the importer wrote although nothing was to be imported. */
  close(): string[];
}

export async function openTargets(): Promise<Targets> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'handover-fuzz-')));
  const [sender, receiver] = [makeMachine(folder, 'sender'), makeMachine(folder, 'receiver')];
  const keys = await generateKeys(sender, 'alice');
  trustKey(receiver, keys.secret, 'alice');
  const store = openStore(sender);
  const parts = {
    summary: 'Raised to 5.',
    facts: [{ kind: 'next', text: 'Write the test' }],
    files: ['a.ts'],
  } as const;
  const handovers = ['one', 'two'].map((title) =>
    prepareExport(saveSample(sender, { ...parts, title, facts: [...parts.facts], files: [...parts.files] }), {
      machine: sender,
      only: null,
      redactor: makeRedactor(),
    }),
  );
  const how = { createdAt: '2026-01-31T12:00:00.000Z', expiresAt: null, encryption: null };
  const signed = await packBundle(store, handovers, { ...how, signer: keys });
  const bare = await packBundle(store, handovers, { ...how, signer: null });
  const foreign = makeSessionHandoffSeeds(keys);
  const asIs = (bytes: Buffer): Buffer => bytes;
  const targets = [
    {
      name: 'importer',
      seeds: [signed, bare, ...foreign],
      finish: asIs,
      read: makeImporter(receiver),
    },
    { name: 'reader', seeds: [bare, signed, ...foreign], finish: asIs, read: makeLooker(receiver) },
    {
      name: 'content',
      seeds: [parseArchive(bare).content],
      finish: packContent,
      read: makeLooker(receiver),
    },
    { name: 'session-handoff', seeds: foreign, finish: fitChecksum, read: makeLooker(receiver) },
    { name: 'redactor', seeds: makeTextSeeds(), finish: asIs, read: redactTwice },
  ];
  const close = (): string[] => {
    const written = readdirSync(join(folder, 'receiver'), { recursive: true, encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    return written.filter((path) => path.startsWith('store'));
  };
  return { targets, close };
}

/** Texts with secrets of all kinds, many in each, so that changes bring parts of them together. */
function makeTextSeeds(): Buffer[] {
  const texts = writeSecrets(1000, 3).map(({ text }) => text);
  return Array.from({ length: 50 }, (_, at) => Buffer.from(texts.slice(at * 20, at * 20 + 20).join('\n')));
}

/** Redacting what was redacted changes nothing. */
async function redactTwice(bytes: Buffer): Promise<void> {
  const once = redactFile(bytes, makeRedactor());
  if (!redactFile(once, makeRedactor()).equals(once)) throw new Error('it was not redacted whole at once');
}

/** A dry run works without a signature, and saves nothing. */
function makeLooker(machine: Machine, changes: Partial<ImportOptions> = {}): (bytes: Buffer) => Promise<Import> {
  const refuse = async (): Promise<never> => {
    throw new HandoverError('HANDOVER_BUNDLE_REFUSED', 'nobody is there');
  };
  return (bytes) =>
    importBundle(openStore(machine), bytes, {
      machine,
      opener: { identities: [], askPassphrase: refuse },
      confirmSigner: refuse,
      makeRedactor,
      allowUnsigned: true,
      allowOlder: true,
      onConflict: 'replace',
      dryRun: true,
      ...changes,
    });
}

/** Takes only what the signer signed, which may have come through the changes unharmed; all else leaves no trace. */
function makeImporter(machine: Machine): Target['read'] {
  const look = makeLooker(machine, { allowUnsigned: false });
  const take = makeLooker(machine, { allowUnsigned: false, dryRun: false });
  return async (bytes) => {
    const taken = await look(bytes).catch(() => null);
    if (taken === null) return await take(bytes);
    const isGenuine = taken.handovers.every(({ title }) => ['one', 'two', RECORD.title].includes(title));
    if (taken.signer?.name !== 'alice' || !isGenuine) throw new Error('a forgery was taken');
    return taken;
  };
}

function makeMachine(folder: string, name: string): Machine {
  const home = join(folder, name);
  mkdirSync(home);
  return describeMachine({ PATH: process.env.PATH, HOME: home, HANDOVER_HOME: join(home, 'store') }, home);
}

function packContent(content: Buffer): Buffer {
  const lines = content.filter((byte) => byte === 0x0a).length;
  const manifest = formatManifest({
    created_at: '2026-01-31T12:00:00.000Z',
    expires_at: null,
    origin: null,
    handovers: Math.min(Math.max(lines, 1), 1000),
    content: { name: 'handovers.jsonl', sha256: sha256Hex(content) },
  });
  return formatArchive({
    manifest: Buffer.from(manifest),
    signature: null,
    content,
    contentName: 'handovers.jsonl',
  });
}

const RECORD: BundleRecord = {
  id: '20260101-000000',
  created_at: '2026-01-01T00:00:00Z',
  tool: 'codex',
  project: '/p',
  title: 'Retries',
  summary: 'Raised to 5',
  next: ['Write the test'],
  changed: ['a -> b'],
};

function makeSessionHandoffSeeds(signer: Parameters<typeof formatSessionHandoffBundle>[1]): Buffer[] {
  const seed = { salt: Buffer.alloc(16, 1), nonce: Buffer.alloc(12, 2) };
  return [
    JSON.stringify({ version: 1, record: RECORD }),
    formatSessionHandoffBundle(RECORD, null),
    formatSessionHandoffBundle(RECORD, signer),
    encryptSessionHandoff(Buffer.from('{}'), Buffer.from('correct horse'), seed),
  ].map((text) => Buffer.from(text));
}

/** The checksum that fits the record, where there is one. */
function fitChecksum(bytes: Buffer): Buffer {
  try {
    const bundle = JSON.parse(bytes.toString());
    const checksum = sha256Hex(formatGoRecord(bundle.record));
    return Buffer.from(JSON.stringify({ ...bundle, checksum }));
  } catch {
    return bytes;
  }
}

function makeRedactor(): Redactor {
  return new Redactor({ key: () => new Uint8Array(32) });
}
