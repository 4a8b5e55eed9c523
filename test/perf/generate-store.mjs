import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { computeChecksum, formatHandover } from '../../dist/internals/index.mjs';
import { makeHandoverOfFacts, makeVocabulary } from './generate-facts.mjs';
import { makeRandom, makeSampleHandover } from './sample-handover.mjs';

/** @typedef {{ firstMs: number, lastMs: number }} Span */

/**
 * The last so many months before `now`; none gives what has passed of the current month, in UTC as folders are.
 * @param {number} now
 * @param {number} months
 * @returns {Span}
 */
export function spanOfMonths(now, months) {
  const date = new Date(now);
  const firstMs =
    months === 0
      ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
      : new Date(now).setUTCMonth(date.getUTCMonth() - months);
  return { firstMs, lastMs: now - 1000 };
}

const FOLDER = { recursive: true, mode: 0o700 };
const FILE = { mode: 0o600, flag: 'wx' };

/**
 * Writes a store of `count` handovers with the journal that belongs to them, evenly over the span. Nothing is flushed
 * one by one as `save` does it: that would take hours.
 * @param {string} root
 * @param {number} count
 * @param {Span} span
 */
export function generateStore(root, count, span) {
  const random = makeRandom(count);
  writeStore(root, { count, span }, (stamp) => makeSampleHandover(...stamp, random));
}

/**
 * As above, with so many facts in each handover.
 * @param {string} root
 * @param {number} facts
 * @param {{ count: number, span: Span }} size
 */
export function generateStoreOfFacts(root, facts, size) {
  const random = makeRandom(size.count);
  const vocabulary = makeVocabulary(random);
  writeStore(root, size, (stamp) => makeHandoverOfFacts(...stamp, { random, vocabulary, count: facts }));
}

/**
 * @param {string} root
 * @param {{ count: number, span: Span }} size
 * @param {(stamp: [id: string, createdMs: number]) => ReturnType<typeof makeSampleHandover>} make
 */
export function writeStore(root, { count, span }, make) {
  const step = (span.lastMs - span.firstMs) / count;
  /** @type {Map<string, string[]>} */
  const journal = new Map();
  for (let i = 0; i < count; i++) {
    const handover = make(makeStamp(span.firstMs + i * step, i));
    const month = handover.created_at.slice(0, 7);
    let lines = journal.get(month);
    if (lines === undefined) {
      lines = [];
      journal.set(month, lines);
      mkdirSync(folderOf(root, month), FOLDER);
    }
    writeFileSync(join(folderOf(root, month), `${handover.id}.json`), formatHandover(handover), FILE);
    lines.push(makeJournalLine(handover));
  }
  mkdirSync(join(root, 'journal'), FOLDER);
  for (const [month, lines] of journal) {
    appendFileSync(join(root, 'journal', `${month}.jsonl`), lines.join(''), FILE);
  }
}

/**
 * @param {string} root
 * @param {string} month As 2026-01.
 */
function folderOf(root, month) {
  return join(root, 'handovers', ...month.split('-'));
}

const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';

/**
 * The number in the last part keeps ids apart that fall into one second.
 * @param {number} ms
 * @param {number} number
 * @returns {[id: string, createdMs: number]}
 */
function makeStamp(ms, number) {
  const createdMs = Math.floor(ms);
  const time = new Date(createdMs).toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-');
  const suffix = [15, 10, 5, 0].map((shift) => DIGITS[(number >> shift) & 31]).join('');
  return [`${time}-${suffix}`, createdMs];
}

/** @param {{ id: string, created_at: string, checksum: string }} handover */
function makeJournalLine({ id, created_at, checksum }) {
  const entry = { schema: 'journal/1', at: created_at, event: 'saved', subject: id, detail: { checksum } };
  return `${JSON.stringify({ ...entry, checksum: computeChecksum(entry) })}\n`;
}
