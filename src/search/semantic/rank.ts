import { HandoverError, isErrno } from '../../errors.ts';
import { cutToBytes } from '../../model/text.ts';
import { isCacheDamage, isCacheTrouble } from '../../platform/cache-database.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import type { Redactor } from '../../redact/redactor.ts';
import type { Store } from '../../store/store.ts';
import { type Embedder, openEndpoint, unconfiguredError } from './endpoint.ts';
import { readSemanticSettings, type SemanticSettings } from './settings.ts';
import { digestOf, discardVectors, openVectorStore, type VectorStore } from './vector-store.ts';

export type Candidate<Key> = { key: Key; text: string };

export interface SimilarityQuery<Key> {
  text: string;
  /** Newest first: the first ones are compared, and embedded, first. */
  candidates: Iterable<Candidate<Key>>;
  progress?: Progress | undefined;
}

type Progress = (done: number, total: number) => void;

/** How many texts there are, and how many have no vector. */
export type Coverage = { texts: number; missing: number };

/** `forgotten` are vectors of texts that no longer exist. */
export type Embedding = { texts: number; embedded: number; forgotten: number };

/** `trouble`: why there are none, or fewer than there could be. */
export type Ranking<Key> = Coverage & { ranked: Key[]; trouble: HandoverError | null };

/** Comparing takes time in proportion to these. */
const MAX_COMPARED = 20_000;
const MAX_EMBEDDED = 200_000;
const MAX_RANKED = 50;
/** How long a search embeds texts that have no vector yet, besides the batch that it is at. */
const BUDGET_MS = 2000;
/** Models take a few hundred words; the beginning of a longer text shows what it means. */
const MAX_TEXT_BYTES = 2000;

/**
 * The candidates most similar in meaning, or null when the user has configured no model. Never throws for failures of
 * the endpoint or of the vectors: a search by words is still possible.
 */
export async function rankBySimilarity<K>(store: Store, query: SimilarityQuery<K>): Promise<Ranking<K> | null> {
  const settings = readSemanticSettings(store.machine);
  if (settings === null) return null;
  const ranking: Ranking<K> = { ranked: [], texts: 0, missing: 0, trouble: null };
  try {
    await withEmbeddings(store, settings, (embeddings) => rank(embeddings, query, ranking));
  } catch (error) {
    ranking.trouble = explainTrouble(error);
  }
  return ranking;
}

/** Embeds every text that has no vector yet, and deletes the vectors of texts that no longer exist. */
export async function embedAll(
  store: Store,
  candidates: Iterable<Candidate<unknown>>,
  progress?: Progress,
): Promise<Embedding> {
  const settings = readSemanticSettings(store.machine);
  if (settings === null)
    throw unconfiguredError('no embedding model is configured', {
      hint: 'Set url and model in [search.meaning] of your config.toml; see docs/search.md.',
    });
  return await withEmbeddings(store, settings, async (embeddings) => {
    const texts = groupByDigest(candidates, MAX_EMBEDDED);
    const [probe = new Float32Array()] = await embeddings.embedder.embed(['probe'], 'query');
    const missing = listMissing(embeddings, texts, probe.length);
    await embedMissing(embeddings, missing, { numbers: probe.length, progress });
    const forgotten = texts.size < MAX_EMBEDDED ? embeddings.vectors.keepOnly([...texts.keys()]) : 0;
    return { texts: texts.size, embedded: missing.length, forgotten };
  });
}

interface Embeddings {
  embedder: Embedder;
  vectors: VectorStore;
  redactor: Redactor;
  now(): number;
}

async function withEmbeddings<T>(store: Store, settings: SemanticSettings, work: (all: Embeddings) => Promise<T>) {
  const { machine } = store;
  const embedder = openEndpoint(settings, machine);
  const redactor = openRedactor(machine, { folder: machine.cwd, makesKey: false });
  let vectors: VectorStore | null = null;
  try {
    vectors = openVectorStore(store, { space: embedder.space });
    if (vectors === null)
      throw unconfiguredError('semantic search needs SQLite to store vectors', {
        hint: 'Use Node 22.13 or later, or install with optional dependencies.',
      });
    return await work({ embedder, vectors, redactor, now: () => machine.clock.now() });
  } catch (error) {
    if (isCacheDamage(error)) discardVectors(store);
    throw explainTrouble(error);
  } finally {
    vectors?.close();
  }
}

function explainTrouble(error: unknown): HandoverError {
  if (error instanceof HandoverError) return error;
  if (!isCacheTrouble(error) && !isErrno(error)) throw error;
  const what = isCacheDamage(error) ? 'were damaged, and will be recreated' : 'cannot be used now';
  return new HandoverError('HANDOVER_IO', `the stored vectors ${what}`, { cause: error });
}

/** A text, and the keys of all candidates with this text. */
type TextGroup<Key> = { text: string; keys: Key[] };

function groupByDigest<Key>(candidates: Iterable<Candidate<Key>>, most: number): Map<string, TextGroup<Key>> {
  const groups = new Map<string, TextGroup<Key>>();
  for (const { key, text } of candidates) {
    const digest = digestOf(text, 'text');
    const group = groups.get(digest);
    if (group !== undefined) group.keys.push(key);
    else if (groups.size < most) groups.set(digest, { text, keys: [key] });
    else break;
  }
  return groups;
}

/** Fills the ranking step by step, so that what is known is used when a later step fails. */
async function rank<K>(embeddings: Embeddings, query: SimilarityQuery<K>, into: Ranking<K>): Promise<void> {
  const groups = groupByDigest(query.candidates, MAX_COMPARED);
  into.texts = groups.size;
  into.missing = groups.size;
  if (groups.size === 0) return;
  const vector = await embedQuery(embeddings, query.text);
  const missing = listMissing(embeddings, groups, vector.length);
  into.missing = missing.length;
  try {
    await embedMissing(embeddings, missing, {
      numbers: vector.length,
      deadline: embeddings.now() + BUDGET_MS,
      progress: query.progress,
      onBatch: (count) => {
        into.missing -= count;
      },
    });
  } catch (error) {
    into.trouble = explainTrouble(error);
  }
  into.ranked = embeddings.vectors
    .findNeighbours({ vector, digests: [...groups.keys()], limit: MAX_RANKED })
    .flatMap(({ digest }) => groups.get(digest)?.keys ?? [])
    .slice(0, MAX_RANKED);
}

async function embedQuery({ embedder, vectors, redactor }: Embeddings, text: string): Promise<Float32Array> {
  const safe = makeSafe(redactor, text);
  const digest = digestOf(safe, 'query');
  const known = vectors.get(digest);
  if (known !== null) return known;
  const [vector = new Float32Array()] = await embedder.embed([safe], 'query');
  vectors.put([[digest, vector]]);
  return vector;
}

function makeSafe(redactor: Redactor, text: string): string {
  return cutToBytes(redactor.redactText(text, { byHuman: true }), MAX_TEXT_BYTES);
}

function listMissing({ vectors }: Embeddings, groups: ReadonlyMap<string, TextGroup<unknown>>, numbers: number) {
  const known = vectors.known([...groups.keys()], numbers);
  return [...groups].flatMap(([digest, { text }]) => (known.has(digest) ? [] : [{ digest, text }]));
}

interface EmbedOptions {
  numbers: number;
  /** No batch is begun after it. */
  deadline?: number;
  progress?: Progress | undefined;
  onBatch?: (count: number) => void;
}

/** Vectors are stored batch by batch: an interruption costs one batch at most. */
async function embedMissing(
  { embedder, vectors, redactor, now }: Embeddings,
  missing: readonly { digest: string; text: string }[],
  { numbers, deadline = Number.POSITIVE_INFINITY, progress, onBatch }: EmbedOptions,
): Promise<void> {
  for (let at = 0; at < missing.length && now() < deadline; at += embedder.batch) {
    progress?.(at, missing.length);
    const batch = missing.slice(at, at + embedder.batch);
    const safe = batch.map(({ text }) => makeSafe(redactor, text));
    const made = await embedder.embed(safe, 'text');
    if (made.some((vector) => vector.length !== numbers))
      throw new HandoverError('HANDOVER_REMOTE_REFUSED', 'the model returned vectors of a different length', {
        hint: 'Check that url and model in [search.meaning] of your config.toml name one model.',
      });
    vectors.put(made.map((vector, index) => [batch[index]?.digest ?? '', vector]));
    onBatch?.(batch.length);
  }
  progress?.(missing.length, missing.length);
}
