import { createHash, createPrivateKey, sign } from 'node:crypto';
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describePeak } from './line.mjs';
import { measurePeakMemory } from './peak-memory.mjs';
import { runRounds } from './rounds.mjs';
import { handover, readCommand } from './run-command.mjs';

/** @typedef {import('./line.mjs').Line} Line */
/** @typedef {import('./run-command.mjs').Command} Command */
/** @typedef {import('./run-command.mjs').Place} Place */

/** @typedef {{ name: string, bytes: Buffer | number, flags?: string[], status?: number }} Attack A number is the size of a file of zeros. */

const MOST_SECONDS = 1;
const MOST_MEGABYTES = 256;
const MEGABYTE = 1024 * 1024;
/** How a bundle ends that is not built as it should be, and one without a trusted signature. */
const INVALID = 65;
const REFUSED = 77;

/**
 * What an unknown signer, or a malicious one, can send: each is refused by a fresh process. The slowest and the largest
 * are reported.
 * @param {string} folder
 * @param {{ rounds: number }} ask
 * @returns {Line[]}
 */
export function measureAttacks(folder, { rounds }) {
  const place = { home: join(folder, 'attack-home'), store: join(folder, 'attack-store'), cwd: folder };
  mkdirSync(place.home);
  const commands = Object.fromEntries(
    listAttacks(place).map(({ name, bytes, flags = [], status = INVALID }, at) => {
      const file = join(folder, `attack-${at}`);
      writeFileSync(file, typeof bytes === 'number' ? '' : bytes);
      if (typeof bytes === 'number') truncateSync(file, bytes);
      return [name, { ...handover(place, ['import', '--input', file, ...flags]), status }];
    }),
  );
  const timings = runRounds(
    Object.fromEntries(Object.entries(commands).map(([name, command]) => [name, { command }])),
    rounds,
  );
  const [slowest, timing] = pickMost(Object.entries(timings), (one) => one.median);
  const peaks = Object.entries(commands).map(
    ([name, command]) => /** @type {[string, number]} */ ([name, measurePeakMemory(command, folder)]),
  );
  const [largest, peak] = pickMost(peaks, (one) => one);
  const count = Object.keys(commands).length;
  return [
    {
      name: `slowest of ${count} attacks: ${slowest}`,
      unit: 's',
      min: timing.min / 1000,
      median: timing.median / 1000,
      rounds: timing.rounds,
      limit: MOST_SECONDS,
    },
    describePeak(`memory: largest of ${count} attacks: ${largest}`, peak, MOST_MEGABYTES),
  ];
}

/**
 * @template T
 * @param {[string, T][]} entries
 * @param {(value: T) => number} measure
 * @returns {[string, T]}
 */
function pickMost(entries, measure) {
  const [first, ...rest] = entries;
  if (first === undefined) throw new RangeError('there is nothing to pick from');
  return rest.reduce((most, entry) => (measure(entry[1]) > measure(most[1]) ? entry : most), first);
}

/** @param {Place} place @returns {Attack[]} */
function listAttacks(place) {
  readCommand(handover(place, ['keys', 'generate', '--name', 'mallory']));
  readCommand(handover(place, ['save', '--title', 'the work', '--next', 'go on']));
  const file = join(place.cwd, 'genuine.handover');
  readCommand(handover(place, ['export', '--sign', '--output', file]));
  const genuine = readFileSync(file);
  const signed = (/** @type {Buffer} */ content, handovers = 1) => signBundle(place, content, handovers);
  const passphrase = join(place.cwd, 'passphrase');
  writeFileSync(passphrase, 'correct horse battery\n', { mode: 0o600 });
  const open = ['--allow-unsigned', '--passphrase-file', passphrase];
  const [line] = readMember(genuine, 'handovers.jsonl').toString().split('\n');
  const facts = Array.from({ length: 10_001 }, () => ({}));
  return [
    { name: 'a file of 1 GB', bytes: 1024 * MEGABYTE },
    { name: 'a member that claims 1 GB', bytes: claimSize(genuine, 2 ** 30) },
    { name: 'truncated', bytes: genuine.subarray(0, -1) },
    { name: 'a bundle behind the bundle', bytes: Buffer.concat([genuine, genuine]) },
    { name: '64 MB of zeros, compressed', bytes: gzipSync(Buffer.alloc(64 * MEGABYTE)) },
    { name: 'JSON 10,000 levels deep', bytes: Buffer.from('{"a":'.repeat(10_000)) },
    { name: 'JSON 32 MB deep', bytes: Buffer.alloc(32 * MEGABYTE - 1, '{"a":') },
    { name: 'JSON of millions of values', bytes: Buffer.from(`{"version":3,"x":[${'{},'.repeat(8e6)}{}]}`) },
    { name: 'JSON of one text of 32 MB', bytes: Buffer.from(`{"version":"${'x'.repeat(32e6)}"}`) },
    {
      name: 'session-handoff, KDF cost of 2^30',
      bytes: lockJson({ kdf: 'scrypt(N=1073741824,r=8,p=1)' }),
      flags: open,
    },
    { name: 'session-handoff, wrong nonce', bytes: lockJson({ nonce: 'AAAA' }), flags: open },
    { name: 'age, passphrase cost of 2^30', bytes: lockBundle(30), flags: open },
    {
      name: 'age, 100,000 recipients',
      bytes: packBundle(manyRecipients(), 'handovers.jsonl.age'),
      flags: open,
    },
    { name: 'unsigned', bytes: packBundle(Buffer.from(`${line}\n`)), status: REFUSED },
    {
      name: 'signed, JSON 10,000 levels deep',
      bytes: signed(Buffer.from(`${'['.repeat(1e4)}${']'.repeat(1e4)}\n`)),
    },
    { name: 'signed, a million values', bytes: signed(Buffer.from(`[${'0,'.repeat(999_990)}0]\n`)) },
    { name: 'signed, millions of values', bytes: signed(Buffer.from(`[${'0,'.repeat(15e6)}0]\n`)) },
    { name: 'signed, 31 MB of empty lines', bytes: signed(Buffer.alloc(31e6, '\n'), 1000) },
    { name: 'signed, one text of 31 MB', bytes: signed(Buffer.from(`"${'x'.repeat(31e6)}"\n`)) },
    {
      name: 'signed, ten thousand and one facts',
      bytes: signed(Buffer.from(`${JSON.stringify({ ...JSON.parse(line ?? ''), facts })}\n`)),
    },
    {
      name: 'signed, __proto__',
      bytes: signed(Buffer.from(`${line?.replace('{', '{"__proto__":{"x":1},')}\n`)),
    },
    { name: 'replayed', bytes: replay(place, genuine), status: REFUSED },
  ];
}

/** It came once already. @param {Place} place @param {Buffer} genuine */
function replay(place, genuine) {
  const file = join(place.cwd, 'replayed.handover');
  writeFileSync(file, genuine);
  readCommand(handover(place, ['import', '--input', file, '--on-conflict', 'skip']));
  return genuine;
}

/** @param {object} change */
function lockJson(change) {
  const base64 = (/** @type {number} */ length) => Buffer.alloc(length, 1).toString('base64');
  const header = { version: 1, algorithm: 'aes-256-gcm', kdf: 'scrypt(N=32768,r=8,p=1)' };
  return Buffer.from(
    JSON.stringify({ ...header, salt: base64(16), nonce: base64(12), ciphertext: base64(64), ...change }),
  );
}

/** @param {number} cost */
function lockBundle(cost) {
  const header = `age-encryption.org/v1\n-> scrypt ${'A'.repeat(22)} ${cost}\n${'A'.repeat(43)}\n--- ${'A'.repeat(43)}\n`;
  return packBundle(Buffer.concat([Buffer.from(header), Buffer.alloc(100, 1)]), 'handovers.jsonl.age');
}

function manyRecipients() {
  const stanza = `-> X25519 ${'A'.repeat(43)}\n${'A'.repeat(43)}\n`;
  return Buffer.from(`age-encryption.org/v1\n${stanza.repeat(100_000)}--- ${'A'.repeat(43)}\n`);
}

/** The members of a bundle that nobody signed. @param {Buffer} content */
function packBundle(content, name = 'handovers.jsonl') {
  const manifest = writeManifest({ content, name, handovers: 1, origin: null });
  return Buffer.concat([writeMember('manifest', manifest), writeMember(name, content), Buffer.alloc(1024)]);
}

/** A bundle that the one signed whose key is trusted. @param {Place} place @param {Buffer} content @param {number} handovers */
function signBundle({ home }, content, handovers) {
  const keys = join(home, '.config', 'agent-handover', 'keys');
  const bytes = Buffer.from(readFileSync(join(keys, 'signing.key'), 'utf8').split('\n')[1] ?? '', 'base64');
  const [id, seed] = [bytes.subarray(54, 62), bytes.subarray(62, 94)];
  const key = readFileSync(join(keys, 'signing.pub'), 'utf8').split('\n')[1] ?? '';
  const manifest = writeManifest({ content, name: 'handovers.jsonl', handovers, origin: { key } });
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
  const secret = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const signature = sign(null, createHash('blake2b512').update(manifest).digest(), secret);
  const comment = sign(null, Buffer.concat([signature, Buffer.from('t')]), secret).toString('base64');
  const line = Buffer.concat([Buffer.from('ED'), id, signature]).toString('base64');
  const file = `untrusted comment: u\n${line}\ntrusted comment: t\n${comment}\n`;
  return Buffer.concat([
    writeMember('manifest', manifest),
    writeMember('manifest.minisig', Buffer.from(file)),
    writeMember('handovers.jsonl', content),
    Buffer.alloc(1024),
  ]);
}

/** @param {{ content: Buffer, name: string, handovers: number, origin: { key: string } | null }} told */
function writeManifest({ content, name, handovers, origin }) {
  return Buffer.from(
    `${[
      '# agent-handover bundle 1',
      '# created: 2026-01-31T12:00:00.000Z',
      '# expires: none',
      `# signer: ${origin === null ? 'none' : 'mallory'}`,
      `# key: ${origin?.key ?? 'none'}`,
      `# series: ${origin === null ? 'none' : 'anotherseries'}`,
      `# sequence: ${origin === null ? 0 : 1}`,
      '# previous: none',
      `# handovers: ${handovers}`,
      `${createHash('sha256').update(content).digest('hex')}  ${name}`,
    ].join('\n')}\n`,
  );
}

/** A member of a tar file as bundles have it. @param {string} name @param {Buffer} data */
function writeMember(name, data) {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write('0000600\x000000000\x000000000\0', 100, 'latin1');
  header.write(`${data.length.toString(8).padStart(11, '0')}\0${'0'.repeat(11)}\0`, 124, 'latin1');
  header.write('        0', 148);
  header.write('ustar\x0000', 257, 'latin1');
  writeSum(header);
  return Buffer.concat([header, data, Buffer.alloc((512 - (data.length % 512)) % 512)]);
}

/** @param {Buffer} header */
function writeSum(header) {
  header.write('        ', 148);
  const sum = header.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
}

/** @param {Buffer} bundle @param {number} size */
function claimSize(bundle, size) {
  const copy = Buffer.from(bundle);
  copy.write(size.toString(8).padStart(11, '0'), 124);
  writeSum(copy);
  return copy;
}

/** @param {Buffer} bundle @param {string} name */
function readMember(bundle, name) {
  const at = bundle.indexOf(`${name}\0`);
  const size = Number.parseInt(bundle.toString('latin1', at + 124, at + 135), 8);
  return bundle.subarray(at + 512, at + 512 + size);
}
