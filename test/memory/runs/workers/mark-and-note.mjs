import { readdirSync, writeFileSync } from 'node:fs';

// Marks one step done, adds one note and replaces the state, as one of many processes that begin at the same moment.
const [library, folder, name, count] = process.argv.slice(2);
const { Checkpoint, MemoryStore } = await import(library);
const checkpoint = new Checkpoint(`${folder}/.agent-handover/checkpoint.json`);
const store = new MemoryStore(`${folder}/memory`);

writeFileSync(`${folder}/ready/${name}`, '');
while (readdirSync(`${folder}/ready`).length < Number(count)) await new Promise((go) => setTimeout(go, 5));

checkpoint.markDone(name);
store.write(1, `note of ${name}`, { tag: 'shared' });
store.write(2, `state of ${name}`);
