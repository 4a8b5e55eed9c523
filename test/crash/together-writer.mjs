import { writeSync } from 'node:fs';
import {
  declareHandover,
  describeMachine,
  describePlace,
  openStore,
  saveHandover,
  sealHandover,
} from '../../dist/internals/index.mjs';

/* Saves COUNT handovers and acknowledges each on standard output once it is saved: node together-writer.mjs NAME COUNT */

const [name = '', count = '0'] = process.argv.slice(2);
const machine = describeMachine();
const store = openStore(machine);
const place = describePlace('.', machine);

for (let i = 1; i <= Number(count); i++) {
  const draft = declareHandover(declare(i), place, machine);
  const started = performance.now();
  const { handover, journalFailure } = saveHandover(store, (stamp) => sealHandover({ ...draft, ...stamp }));
  if (journalFailure !== null) throw journalFailure;
  writeSync(1, `${handover.id} ${Math.ceil(performance.now() - started)}\n`);
}

/** @param {number} i @returns {import('../../dist/internals/index.mjs').Declaration} */
function declare(i) {
  return {
    title: `${name} ${i}`,
    summary: 'together '.repeat(i % 50),
    agent: name,
    by: 'agent',
    sessionId: null,
    facts: [{ kind: 'next', text: `step ${i}` }],
    files: [],
    pins: [],
    pinAll: false,
  };
}
