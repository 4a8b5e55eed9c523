import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { describeEnd, handover, listIds } from './command.mjs';
import { noteSkipped, Tally } from './report.mjs';
import { openBox, removeBox } from './sandbox.mjs';
import { findComplaints, findOpenPaths } from './state-checks.mjs';

/** @typedef {import('./sandbox.mjs').Box} Box */

const SIZES = ['16k', '32k', '64k', '128k', '256k'];
const FAILURES_IN_A_ROW = 3;

/** Saves into a disk that fills up: each save succeeds completely, or fails with an error and harms no other. */
export async function checkFullDisk() {
  const tally = new Tally('full disk');
  let saves = 0;
  for (const size of SIZES) {
    const box = openBox('full-disk');
    mkdirSync(box.store);
    const trouble = mount('-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'tmpfs', box.store);
    if (trouble !== null) {
      removeBox(box);
      noteSkipped('full disk', `a small disk cannot be mounted: ${trouble}`);
      return;
    }
    try {
      const { kept, complaints } = await fill(box);
      saves += kept.length;
      complaints.push(...(await checkFull(box, kept)));
      if (complaints.length === 0) tally.pass();
      else tally.fail({ at: `a disk of ${size}`, line: '', complaints, kept: null });
    } finally {
      spawnSync('umount', [box.store]);
      removeBox(box);
    }
  }
  tally.end(`${SIZES.length} disks, ${saves} saves kept`);
}

/** @param {string[]} args */
function mount(...args) {
  if (process.getuid?.() !== 0) return 'that takes root';
  const { status, stderr, error } = spawnSync('mount', args, { encoding: 'utf8' });
  return status === 0 ? null : (error?.message ?? stderr.trim());
}

/**
 * Texts of changing length, so that the disk is full at another place each time.
 * @param {Box} box
 */
async function fill(box) {
  /** @type {string[]} */
  const kept = [];
  /** @type {string[]} */
  const complaints = [];
  for (let i = 0, failures = 0; failures < FAILURES_IN_A_ROW; i++) {
    const ended = await handover(box, [
      'save',
      '--title',
      `work ${i}`,
      '--summary',
      'x'.repeat((i * 997) % 6000),
      '--json',
    ]);
    if (ended.status === 0) kept.push(JSON.parse(ended.stdout).id);
    else failures++;
    if (ended.status !== 0 && ended.status !== 74) complaints.push(`save ${i}: ${describeEnd(ended)}`);
  }
  return { kept, complaints };
}

/**
 * First as it is, full; then with space again.
 * @param {Box} box
 * @param {string[]} kept
 */
async function checkFull(box, kept) {
  const judge = (/** @type {string[]} */ listed) =>
    kept.filter((id) => !listed.includes(id)).map((id) => `the acknowledged ${id} is missing`);
  const complaints = [...judge(await listIds(box)), ...findOpenPaths(box)];
  const trouble = mount('-o', 'remount,size=4m', box.store);
  if (trouble !== null) return [...complaints, trouble];
  const ended = { status: 1, signal: null, stdout: '', stderr: '' };
  const prepared = {
    args: [],
    judge: (/** @type {{ listed: string[] }} */ { listed }) => judge(listed),
    // The line that the disk cut short is closed by the next save; it stays damaged.
    tolerate: () => ['damaged-journal-line'],
  };
  return [...complaints, ...(await findComplaints(box, prepared, ended))];
}
