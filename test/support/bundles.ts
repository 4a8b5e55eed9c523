import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { HandoverError } from '../../src/errors.ts';
import type { Encryption } from '../../src/exchange/bundle/age.ts';
import {
  type Archive,
  formatArchive,
  formatManifest,
  type Manifest,
  parseArchive,
  parseManifest,
} from '../../src/exchange/bundle/archive.ts';
import { type Import, type ImportOptions, importBundle } from '../../src/exchange/bundle/import-bundle.ts';
import { generateSecretKey, type SecretKey, signFile } from '../../src/exchange/bundle/minisign.ts';
import { generateKeys, type OwnKeys } from '../../src/exchange/bundle/own-keys.ts';
import { packBundle } from '../../src/exchange/bundle/pack.ts';
import { prepareExport } from '../../src/exchange/bundle/prepare-export.ts';
import { trustKey, unknownSignerError } from '../../src/exchange/bundle/trust-list.ts';
import type { Handover } from '../../src/model/handover.ts';
import { sha256Hex } from '../../src/model/hash.ts';
import { formatTimestamp } from '../../src/model/time.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { makeRedactor } from './redactor.ts';
import { makeFolder, makeMachine, makeRandom, saveOne } from './temp-store.ts';

/** A user with a home, a store and keys. */
export interface Person {
  store: Store;
  keys: OwnKeys;
}

export async function makePerson(name: string, seed = 1): Promise<Person> {
  const folder = makeFolder();
  mkdirSync(join(folder, 'home'));
  const store = openStore(makeMachine(folder, { random: makeRandom(seed) }));
  return { store, keys: await generateKeys(store.machine, name) };
}

export interface SendOptions {
  signed?: boolean;
  lock?: Encryption | null;
  expiresAt?: string | null;
}

/** A bundle as `export` makes it. */
export async function send(
  { store, keys }: Person,
  handovers: readonly Handover[] = [saveOne(store, 'the work')],
  { signed = true, lock = null, expiresAt = null }: SendOptions = {},
): Promise<Buffer> {
  const leaving = handovers.map((handover) =>
    prepareExport(handover, { machine: store.machine, only: null, redactor: makeRedactor() }),
  );
  const createdAt = formatTimestamp(store.machine.clock.now());
  return await packBundle(store, leaving, { createdAt, expiresAt, signer: signed ? keys : null, encryption: lock });
}

export function trust(receiver: Person, sender: Person): void {
  trustKey(receiver.store.machine, sender.keys.secret, sender.keys.name);
}

/** As `import` does without a terminal. */
export async function receive(
  { store, keys }: Person,
  bytes: Buffer,
  options: Partial<ImportOptions> & { passphrase?: string } = {},
): Promise<Import> {
  const { passphrase, ...rest } = options;
  return await importBundle(store, bytes, {
    machine: store.machine,
    opener: {
      identities: [keys.identity],
      askPassphrase: async () => {
        if (passphrase === undefined) throw new HandoverError('HANDOVER_BUNDLE_LOCKED', 'nobody is there');
        return Buffer.from(passphrase);
      },
    },
    confirmSigner: async (signer) => {
      throw unknownSignerError(signer);
    },
    makeRedactor: () => makeRedactor(),
    allowUnsigned: false,
    allowOlder: false,
    onConflict: 'fail',
    dryRun: false,
    ...rest,
  });
}

/** Why a bundle was refused: the code, and the part or the message. Null when it was accepted. */
export async function findRefusal(
  receiver: Person,
  bytes: Buffer,
  options: Parameters<typeof receive>[2] = {},
): Promise<{ code: string; message: string } | null> {
  try {
    await receive(receiver, bytes, options);
    return null;
  } catch (error) {
    if (!(error instanceof HandoverError)) throw error;
    return { code: error.code, message: error.message };
  }
}

export function takeApart(bytes: Buffer): Archive & { parsed: Manifest } {
  const archive = parseArchive(bytes);
  const parsed = parseManifest(archive.manifest.toString());
  if ('wrong' in parsed) throw new Error(parsed.wrong);
  return { ...archive, parsed };
}

/** A bundle with some parts changed, signed again by whoever has the key. */
export function forge(
  bytes: Buffer,
  secret: SecretKey | null,
  changes: { manifest?: Partial<Manifest>; content?: Buffer } = {},
): Buffer {
  const { parsed, content: before, contentName } = takeApart(bytes);
  const content = changes.content ?? before;
  const name = changes.manifest?.content?.name ?? contentName;
  const manifest = { ...parsed, ...changes.manifest, content: { name, sha256: sha256Hex(content) } };
  const text = Buffer.from(formatManifest(manifest));
  const signature =
    secret === null ? null : Buffer.from(signFile(text, secret, { untrusted: 'forged', trusted: 'forged' }));
  return formatArchive({ manifest: text, signature, content, contentName: name });
}

export function makeUnknownKey(): SecretKey {
  return generateSecretKey(randomBytes);
}
