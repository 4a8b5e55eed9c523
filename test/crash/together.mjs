import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { environmentOf, handover, listIds } from './command.mjs';
import { Tally } from './report.mjs';
import { openBox, removeBox } from './sandbox.mjs';
import { findOpenPaths } from './state-checks.mjs';

/** @typedef {import('./sandbox.mjs').Box} Box */
/** @typedef {{ writers: number, saves: number, seed: number }} Size */
/** @typedef {{ acknowledged: string[], longestMs: number, killed: boolean, complaints: string[] }} Written */

const WRITER = fileURLToPath(new URL('./together-writer.mjs', import.meta.url));
const READER = fileURLToPath(new URL('./together-reader.mjs', import.meta.url));
const ROLES = ['list', 'list', 'list', 'doctor'];

/**
 * Many processes save at once, one in ten is killed in the middle, others read all the while: what was acknowledged is
 * there once and whole, nobody saw anything torn, and nobody waited for a lock in vain.
 * @param {Size} size
 */
export async function checkTogether(size) {
  const tally = new Tally('together');
  const box = openBox('together');
  const random = seedRandom(size.seed);
  const readers = ROLES.map((role) => startReader(box, role));
  const written = await Promise.all(
    Array.from({ length: size.writers }, (_, i) => runWriter(box, i, { size, random })),
  );
  const read = await Promise.all(readers.map((stop) => stop()));
  const acknowledged = written.flatMap((writer) => writer.acknowledged);
  const killed = written.filter((writer) => writer.killed).length;
  const complaints = [
    ...written.flatMap((writer) => writer.complaints),
    ...read.flatMap((reader) => reader.complaints),
    ...(await compare(box, acknowledged, killed)),
    ...findOpenPaths(box),
  ];
  const longest = Math.max(...written.map((writer) => writer.longestMs));
  if (complaints.length === 0) {
    removeBox(box);
    tally.pass();
  } else tally.fail({ at: `seed ${size.seed}`, line: '', complaints: complaints.slice(0, 20), kept: box.folder });
  const rounds = read.map((reader) => reader.rounds);
  tally.end(
    `${size.writers} writers (${killed} killed, seed ${size.seed}), ${acknowledged.length} saves acknowledged, ` +
      `longest ${longest} ms, ${rounds.slice(0, 3).join(' + ')} lists and ${rounds[3]} examinations meanwhile`,
  );
}

/**
 * @param {Box} box
 * @param {number} i
 * @param {{ size: Size, random: () => number }} options
 * @returns {Promise<Written>}
 */
function runWriter(box, i, { size, random }) {
  const doomed = i % 10 === 0;
  const killAfter = doomed ? Math.floor(random() * size.saves) : -1;
  const killDelayMs = Math.floor(random() * 20);
  const child = start(box, WRITER, [`writer-${i}`, String(size.saves)]);
  /** @type {Written} */
  const written = { acknowledged: [], longestMs: 0, killed: false, complaints: [] };
  const kill = async () => {
    await delay(killDelayMs);
    child.kill('SIGKILL');
  };
  if (killAfter === 0) void kill();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [id = '', ms = '0'] = line.split(' ');
    written.acknowledged.push(id);
    written.longestMs = Math.max(written.longestMs, Number(ms));
    if (written.acknowledged.length === killAfter) void kill();
  });
  return new Promise((resolve) => {
    child.on('close', (status, signal) => {
      written.killed = signal === 'SIGKILL';
      if (status !== 0 && !(doomed && written.killed)) {
        written.complaints.push(`writer ${i} ended with ${status ?? signal}: ${child.said()}`);
      }
      resolve(written);
    });
  });
}

/**
 * @param {Box} box
 * @param {string} role
 * @returns {() => Promise<{ rounds: number, complaints: string[] }>} Stops it.
 */
function startReader(box, role) {
  const child = start(box, READER, [role]);
  const result = { rounds: 0, complaints: /** @type {string[]} */ ([]) };
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith('! ')) result.complaints.push(`a reader (${role}): ${line.slice(2)}`);
    else result.rounds = Number(line.split(' ')[1]);
  });
  const closed = new Promise((resolve) => child.on('close', resolve));
  return async () => {
    child.kill('SIGTERM');
    const status = await closed;
    if (status !== 0) result.complaints.push(`a reader (${role}) ended with ${status}: ${child.said()}`);
    return result;
  };
}

/** @param {Box} box @param {string} program @param {string[]} args */
function start(box, program, args) {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: join(box.folder, 'project'),
    env: environmentOf(box),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let words = '';
  child.stderr.on('data', (chunk) => {
    words += chunk;
  });
  return Object.assign(child, { said: () => words.trim().slice(0, 600) });
}

/**
 * A writer that was killed may have saved one more than it could report.
 * @param {Box} box
 * @param {string[]} acknowledged
 * @param {number} killed
 */
async function compare(box, acknowledged, killed) {
  const listed = await listIds(box);
  const complaints = acknowledged
    .filter((id) => listed.filter((other) => other === id).length !== 1)
    .map((id) => `the acknowledged ${id} is not listed exactly once`);
  if (new Set(acknowledged).size !== acknowledged.length) complaints.push('an id was acknowledged twice');
  const extra = listed.length - acknowledged.length;
  if (extra < 0 || extra > killed) complaints.push(`${extra} handovers beside the acknowledged ones`);
  const doctor = await handover(box, ['doctor', '--json']);
  const { intact, findings } = JSON.parse(doctor.stdout);
  if (doctor.status !== 0) complaints.push(`doctor ended with ${doctor.status}: ${JSON.stringify(findings)}`);
  if (intact !== listed.length) complaints.push(`${intact} are whole, ${listed.length} are listed`);
  return complaints;
}

/** Mulberry32: small, and the same everywhere. @param {number} seed */
function seedRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
