import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { askHandover, describeEnd, handover, listIds } from './command.mjs';
import { configOf, surveyTree } from './sandbox.mjs';

/** @typedef {import('./sandbox.mjs').Box} Box */
/** @typedef {import('./command.mjs').Ended} Ended */
/** @typedef {import('./scenarios.mjs').Prepared} Prepared */
/** @typedef {{ code: string, level: string, message: string, remedy: string | null, fixed: boolean }} Finding */

/**
 * What is wrong with a store after a disturbed command. Everything is asked of fresh processes, and nothing is repaired
 * by hand before. Ends with a store that `doctor --fix` went over.
 * @param {Box} box
 * @param {Prepared} prepared
 * @param {Ended} ended
 * @returns {Promise<string[]>}
 */
export async function findComplaints(box, prepared, ended) {
  try {
    const complaints = prepared.open ? [] : findOpenPaths(box);
    const listed = await listIds(box);
    complaints.push(...(await prepared.judge({ ended, listed, box })));
    complaints.push(...(await checkShown(box, listed)));
    complaints.push(...(await checkDoctor(box, prepared, ended)));
    complaints.push(...(await checkNextSave(box)));
    complaints.push(...(await checkFixing(box)));
    return [...complaints, ...findOpenPaths(box)];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

/** @param {Box} box @param {string[]} ids */
async function checkShown(box, ids) {
  /** @type {string[]} */
  const complaints = [];
  for (const id of ids) {
    const ended = await handover(box, ['show', id, '--json']);
    if (ended.status !== 0) complaints.push(`show ${id}: ${describeEnd(ended)}`);
  }
  return complaints;
}

/**
 * A disturbed command leaves no damage but what is tolerated.
 * @param {Box} box
 * @param {Prepared} prepared
 * @param {Ended} ended
 */
async function checkDoctor(box, prepared, ended) {
  const run = await handover(box, ['doctor', '--json']);
  if (run.status !== 0 && run.status !== 65) return [`doctor: ${describeEnd(run)}`];
  const tolerated = prepared.tolerate?.(ended) ?? [];
  return readFindings(run)
    .filter(({ code, level }) => level === 'damage' && !tolerated.includes(code))
    .map(({ code, message }) => `doctor: ${code}: ${message}`);
}

/** @param {Box} box */
async function checkNextSave(box) {
  const { id } = await askHandover(box, ['save', '--title', 'afterwards']);
  const byIndex = await listIds(box);
  const byFiles = await listIds(box, { HANDOVER_SQLITE: 'none' });
  const complaints = byIndex.includes(id) ? [] : [`the next save, ${id}, is not listed`];
  if (byIndex.join() !== byFiles.join()) {
    complaints.push(`the index lists [${byIndex.join(' ')}], the files are [${byFiles.join(' ')}]`);
  }
  return complaints;
}

/** @param {Box} box */
async function checkFixing(box) {
  const fixing = await handover(box, ['doctor', '--fix', '--json']);
  const complaints = fixing.status === 0 ? [] : [`doctor --fix: status ${fixing.status}: ${describeFindings(fixing)}`];
  const after = await handover(box, ['doctor', '--json']);
  if (after.status !== 0) complaints.push(`doctor after --fix: status ${after.status}`);
  const open = readFindings(after).filter((finding) => finding.remedy !== null);
  for (const { code, message } of open) complaints.push(`left after doctor --fix: ${code}: ${message}`);
  return complaints;
}

/** @param {Ended} ended @returns {Finding[]} */
function readFindings(ended) {
  if (!ended.stdout.startsWith('{')) throw new Error(`doctor: ${describeEnd(ended)}`);
  return JSON.parse(ended.stdout).findings;
}

/** @param {Ended} ended */
function describeFindings(ended) {
  return readFindings(ended)
    .filter((finding) => !finding.fixed)
    .map((finding) => `${finding.code}: ${finding.message}`)
    .join('; ');
}

/**
 * A scenario that needs settings makes them, and their folder, as a user does.
 * @param {Box} box
 */
export function findOpenPaths(box) {
  const settings = join(configOf(box), 'config.toml');
  const ofUser = existsSync(settings) ? [settings, configOf(box)] : [];
  return [box.store, configOf(box)]
    .flatMap(surveyTree)
    .filter(({ path, mode }) => (mode & 0o077) !== 0 && !ofUser.includes(path))
    .map(({ path, mode }) => `${path} is open to others (${mode.toString(8)})`);
}
