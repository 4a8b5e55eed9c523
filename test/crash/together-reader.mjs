import { writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describeMachine, examineStore, openCatalog, openStore, readHandover } from '../../dist/internals/index.mjs';

/*
 * Looks at the store until SIGTERM, and says on standard output what is not as it should be:
 * node together-reader.mjs list|doctor
 */

const [role] = process.argv.slice(2);
const machine = describeMachine();
const store = openStore(machine);
let rounds = 0;
let stopped = false;
process.on('SIGTERM', () => {
  stopped = true;
});

while (!stopped) {
  for (const complaint of role === 'doctor' ? await examine() : await list()) writeSync(1, `! ${complaint}\n`);
  rounds++;
  await delay(50);
}
writeSync(1, `rounds ${rounds}\n`);

async function list() {
  const { catalog, indexFailure } = await openCatalog(store);
  const complaints = indexFailure === null ? [] : [`the index failed: ${indexFailure.message}`];
  /** @type {Set<string>} */
  const seen = new Set();
  for await (const { id } of catalog.rows({})) {
    if (seen.has(id)) complaints.push(`${id} is listed twice`);
    seen.add(id);
    if (seen.size <= 20 && readHandover(store, id) === null) complaints.push(`${id} is listed but not there`);
  }
  const damaged = await catalog.unreadable();
  catalog.close();
  return [...complaints, ...damaged.map(({ path, reason }) => `${path}: ${reason}`)];
}

async function examine() {
  const { findings } = await examineStore(store);
  return findings.filter(({ level }) => level === 'damage').map(({ code, message }) => `${code}: ${message}`);
}
