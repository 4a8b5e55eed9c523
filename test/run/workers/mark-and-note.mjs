// Marks one step done, adds one note and replaces the state, as one of many processes that do so at once.
const [library, folder, name] = process.argv.slice(2);
const { Checkpoint, MemoryStore } = await import(library);

new Checkpoint(`${folder}/.agent-handover/checkpoint.json`).markDone(name);
const store = new MemoryStore(`${folder}/memory`);
store.write(1, `note of ${name}`, { tag: 'shared' });
store.write(2, `state of ${name}`);
