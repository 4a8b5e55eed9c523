import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { askHandover, handover } from './command.mjs';
import { findHits, readHits } from './find-hits.mjs';
import { copyBox, letSettle, removeBox } from './sandbox.mjs';
import { writeTurn } from './transcript.mjs';

/** @typedef {import('./sandbox.mjs').Box} Box */
/** @typedef {import('./scenarios.mjs').Scenario} Scenario */
/** @typedef {import('./scenarios.mjs').Prepared} Prepared */

const SEARCH = ['search', '--sessions', '--json', 'upload'];
const EMBED = ['search', '--embed', '--json'];

/**
 * Searches that read the text of sessions, or have texts embedded. However one is disturbed, the next one knows everything,
 * and the text of a session that its agent has deleted is never lost.
 * @type {Scenario[]}
 */
export const TEXT_SCENARIOS = [
  { name: 'sessions-first', needsIndex: true, light: true, prepare: prepareSessions },
  {
    name: 'sessions-grown',
    needsIndex: true,
    light: true,
    prepare: (box) =>
      prepareSessions(box, async () => {
        await findHits(box, SEARCH);
        appendFileSync(pathOfSession(box, 1), writeTurn(2, ['Upload the rest', 'The upload is done.']));
      }),
  },
  {
    name: 'sessions-gone',
    needsIndex: true,
    light: true,
    prepare: (box) =>
      prepareSessions(box, async () => {
        await findHits(box, SEARCH);
        rmSync(pathOfSession(box, 1));
        for (const name of ['sessions.sqlite', 'sessions.sum']) rmSync(join(box.store, name));
      }),
  },
  { name: 'embed', needsIndex: true, light: true, prepare: prepareEmbed },
];

/**
 * @param {Box} box
 * @param {() => Promise<void>} [change] What happens to sessions before the search that is disturbed.
 * @returns {Promise<Prepared>}
 */
async function prepareSessions(box, change) {
  for (const number of [1, 2]) {
    const path = pathOfSession(box, number);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, writeTurn(0, [`Make the upload ${number} retry`, `The upload ${number} retries.`]));
  }
  await change?.();
  letSettle(box);
  const copy = copyBox(box, 'expected');
  const expected = await findHits(copy, SEARCH);
  removeBox(copy);
  return {
    args: SEARCH,
    judge: async ({ ended, box: own }) => {
      const told = ended.status === 0 ? [readHits(ended.stdout)] : [];
      const found = [...told, await findHits(own, SEARCH), await findWithoutIndex(own)];
      return found.filter((hits) => hits !== expected).map((hits) => `found are ${hits}, not ${expected}`);
    },
  };
}

/** @param {Box} box @param {number} number */
function pathOfSession({ folder }, number) {
  return join(folder, '.claude/projects/-app', `aaaaaaaa-0000-4000-8000-00000000000${number}.jsonl`);
}

/** What the archives alone have. @param {Box} box */
async function findWithoutIndex(box) {
  rmSync(join(box.store, 'sessions.sqlite'));
  return await findHits(box, SEARCH);
}

/** @param {Box} box @returns {Promise<Prepared>} */
async function prepareEmbed(box) {
  const port = await openModel();
  const config = join(box.folder, '.config/agent-handover/config.toml');
  mkdirSync(dirname(config), { recursive: true });
  writeFileSync(config, `[search.meaning]\nurl = "http://127.0.0.1:${port}/v1"\nmodel = "toy"\nbatch = 2\n`);
  for (let part = 1; part <= 3; part++)
    await handover(box, ['save', '--title', 'work', '--decision', `part ${part} is done first`]);
  letSettle(box);
  const { texts } = await askHandover(box, ['search', '--embed']);
  rmSync(join(box.store, 'vectors.sqlite'));
  letSettle(box);
  return {
    args: EMBED,
    judge: async ({ ended, box: own }) => {
      const told = ended.status === 0 ? [JSON.parse(ended.stdout)] : [];
      await askHandover(own, ['search', '--embed']);
      const again = await askHandover(own, ['search', '--embed']);
      const known = [...told.map((end) => end.texts), again.texts];
      const complaints = known.filter((count) => count !== texts).map((count) => `${count} texts are known`);
      return again.embedded === 0 ? complaints : [...complaints, `${again.embedded} texts are embedded again`];
    },
  };
}

/** A model that is always of one mind. @returns {Promise<number>} Its port. */
function openModel() {
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { input } = JSON.parse(Buffer.concat(chunks).toString());
    const data = input.map((/** @type {string} */ text, /** @type {number} */ index) => ({
      index,
      embedding: [1, text.length, index + 1],
    }));
    response.end(JSON.stringify({ data }));
  });
  server.unref();
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    }),
  );
}
