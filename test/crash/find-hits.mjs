import { handover } from './command.mjs';

/** @typedef {import('./sandbox.mjs').Box} Box */

/**
 * What a search finds, in an order that does not depend on its rank. The search must succeed.
 * @param {Box} box
 * @param {readonly string[]} search
 * @param {Record<string, string>} [env]
 */
export async function findHits(box, search, env) {
  const ended = await handover(box, search, env);
  if (ended.status !== 0) throw new Error(`search ended with ${ended.status}: ${ended.stderr}`);
  return readHits(ended.stdout);
}

/** @param {string} text */
export function readHits(text) {
  const { hits } = JSON.parse(text);
  return hits
    .map((/** @type {{ id: string, text: string }} */ { id, text }) => `${id} ${text}`)
    .sort()
    .join('; ');
}
