import { computeFactId } from '../../dist/internals/index.mjs';
import { pick, sealSample } from './sample-handover.mjs';

/** @typedef {import('./sample-handover.mjs').Random} Random */

const AGENTS = ['claude-code', 'codex', 'gemini', 'opencode', 'qwen'];
const PROJECTS = Array.from({ length: 40 }, (_, i) => `project${i}`);
const KINDS = /** @type {const} */ (['task', 'decision', 'constraint', 'rejected', 'next', 'file', 'command', 'error']);
const SYLLABLES = (
  're con ta ble pro min ser ver lo gin da ba se que ry in dex cach ing ed str eam par out put ex port im mem ory ' +
  'un der th ow er ror li mit ses sion hook to ken que ue wor ker ren mig ra tion lay fact ind'
).split(' ');
const COMMON = 'the a of to in is and for that with not on it be as we when because from this'.split(' ');

/**
 * A vocabulary in which few words are frequent and most are rare, as in what people write.
 * @param {Random} random
 */
export function makeVocabulary(random) {
  const words = new Set();
  while (words.size < 40_000) {
    let word = '';
    for (let parts = 2 + Math.floor(random() * 3); parts > 0; parts--)
      word += SYLLABLES[Math.floor(random() * SYLLABLES.length)];
    words.add(word);
  }
  return /** @type {string[]} */ ([...words]);
}

/**
 * A sealed handover of `count` facts.
 * @param {string} id
 * @param {number} createdMs
 * @param {{ random: Random, vocabulary: readonly string[], count: number }} from
 */
export function makeHandoverOfFacts(id, createdMs, { random, vocabulary, count }) {
  const pickWord = () =>
    random() < 0.35 ? pick(COMMON, random) : pick(vocabulary, () => Math.min(0.999_999, random() ** 4));
  const makeSentence = () => Array.from({ length: 6 + Math.floor(random() * 9) }, pickWord).join(' ');
  const project = pick(PROJECTS, random);
  const facts = new Map();
  while (facts.size < count) {
    const kind = pick(KINDS, random);
    const text = kind === 'file' ? `src/${pickWord()}/${pickWord()}-${pickWord()}.ts` : makeSentence();
    const fact = {
      id: computeFactId(kind, text),
      kind,
      text,
      trust: 'observed',
      origin: 'tool',
      sources: [],
    };
    facts.set(fact.id, fact);
  }
  const agent = pick(AGENTS, random);
  return sealSample(id, createdMs, {
    project,
    agent,
    title: makeSentence(),
    summary: '',
    facts: [...facts.values()],
  });
}
