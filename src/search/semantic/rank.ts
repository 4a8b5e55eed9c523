import { HandoverError, isErrno } from '../../errors.ts';
import { cutToBytes } from '../../model/text.ts';
import { isCacheDamage, isCacheTrouble } from '../../platform/cache-database.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import type { Redactor } from '../../redact/redactor.ts';
import type { Store } from '../../store/store.ts';
import { openEndpoint } from './endpoint.ts';
import { readSemanticSettings, type SemanticSettings } from './settings.ts';
import {
  digestOf,
  discardVectors,
  type Embedder,
  openVectorStore,
  type VectorStore,
} from './vector-store.ts';

/** What may be found, by a key of whoever asks. */
export interface Candidate<Key> {
  key: Key;
  text: string;
}

export interface SimilarityQuery<Key> {
  text: string;
  /** Newest first: those that come first are compared, and embedded, first. */
  candidates: Iterable<Candidate<Key>>;
  progress?: Progress | undefined;
}

type Progress = (done: number, total: number) => void;

/** How far the texts have vectors. */
export interface Coverage {
  texts: number;
  missing: number;
}

/** What became of embedding everything. */
export interface Embedding {
  texts: number;
  embedded: number;
  /** Vectors of texts that are not there any more. */
  forgotten: number;
}

export interface Ranking<Key> extends Coverage {
  /** The most alike in meaning, best first. */
  ranked: Key[];
  /** Why there are none, or fewer than there could be. */
  trouble: HandoverError | null;
}

/** Comparing is linear in these. */
const MOST_COMPARED = 20_000;
const MOST_EMBEDDED = 200_000;
const MOST_RANKED = 50;
/** What a search spends on texts that have no vector yet, besides the batch that it is at. */
const BUDGET_MS = 2000;
/** Models take a few hundred words; what a longer text means shows in its beginning. */
const MAX_TEXT_BYTES = 2000;

/**
 * The candidates that mean what was asked, or null when the user has not asked for this. Never throws for what the
 * endpoint or the vectors do: words are enough to search by.
 */
export async function rankBySimilarity<Key>(
  store: Store,
  query: SimilarityQuery<Key>,
): Promise<Ranking<Key> | null> {
  const settings = readSemanticSettings(store.machine);
  if (settings === null) return null;
  const ranking: Ranking<Key> = { ranked: [], texts: 0, missing: 0, trouble: null };
  try {
    await withEmbeddings(store, settings, async (meaning) => {
      const keys = groupByDigest(query.candidates, MOST_COMPARED);
      await rank(meaning, query, { keys, ranking });
    });
  } catch (error) {
    ranking.trouble = explainTrouble(error);
  }
  return ranking;
}

/** Embeds every text that has no vector yet, and forgets the vectors of those that are not there any more. */
export async function embedAll(
  store: Store,
  candidates: Iterable<Candidate<unknown>>,
  progress?: Progress,
): Promise<Embedding> {
  const settings = readSemanticSettings(store.machine);
  if (settings === null) {
    throw new HandoverError('HANDOVER_MEANING_UNCONFIGURED', 'no model for meaning is set', {
      hint: 'Set url and model below [search.meaning] in your config.toml; see docs/search.md.',
    });
  }
  return await withEmbeddings(store, settings, async (meaning) => {
    const texts = groupByDigest(candidates, MOST_EMBEDDED);
    const [probe] = await meaning.embedder.embed(['probe'], 'query');
    const missing = listMissing(meaning, texts, probe?.length ?? 0);
    await embedMissing(meaning, missing, { numbers: probe?.length ?? 0, progress });
    const forgotten = texts.size < MOST_EMBEDDED ? meaning.vectors.keepOnly([...texts.keys()]) : 0;
    return { texts: texts.size, embedded: missing.length, forgotten };
  });
}

interface Embeddings {
  embedder: Embedder;
  vectors: VectorStore;
  redactor: Redactor;
  now(): number;
}

async function withEmbeddings<T>(
  store: Store,
  settings: SemanticSettings,
  work: (meaning: Embeddings) => Promise<T>,
): Promise<T> {
  const { machine } = store;
  const embedder = openEndpoint(settings, machine);
  const redactor = openRedactor(machine, { folder: machine.cwd, makesKey: false });
  let vectors: VectorStore | null = null;
  try {
    vectors = openVectorStore(store, { space: embedder.space });
    if (vectors === null)
      throw new HandoverError('HANDOVER_MEANING_UNCONFIGURED', 'meaning needs SQLite to keep its vectors', {
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
  const what = isCacheDamage(error) ? 'were damaged, and will be made again' : 'cannot be used now';
  return new HandoverError('HANDOVER_IO', `the vectors that were kept ${what}`, { cause: error });
}

interface Texts<Key> {
  text: string;
  keys: Key[];
}

/** Many facts say the same. */
function groupByDigest<Key>(candidates: Iterable<Candidate<Key>>, most: number): Map<string, Texts<Key>> {
  const groups = new Map<string, Texts<Key>>();
  for (const { key, text } of candidates) {
    const digest = digestOf(text, 'text');
    const group = groups.get(digest);
    if (group !== undefined) group.keys.push(key);
    else if (groups.size < most) groups.set(digest, { text, keys: [key] });
    else break;
  }
  return groups;
}

async function rank<Key>(
  meaning: Embeddings,
  query: SimilarityQuery<Key>,
  { keys, ranking }: { keys: Map<string, Texts<Key>>; ranking: Ranking<Key> },
): Promise<void> {
  ranking.texts = keys.size;
  ranking.missing = keys.size;
  if (keys.size === 0) return;
  const vector = await embedQuery(meaning, query.text);
  const missing = listMissing(meaning, keys, vector.length);
  ranking.missing = missing.length;
  try {
    await embedMissing(meaning, missing, {
      numbers: vector.length,
      deadline: meaning.now() + BUDGET_MS,
      progress: query.progress,
      onBatch: (count) => {
        ranking.missing -= count;
      },
    });
  } catch (error) {
    ranking.trouble = explainTrouble(error);
  }
  const digests = [...keys.keys()];
  ranking.ranked = meaning.vectors
    .findNeighbours({ vector, digests, limit: MOST_RANKED })
    .flatMap(({ digest }) => keys.get(digest)?.keys ?? [])
    .slice(0, MOST_RANKED);
}

async function embedQuery({ embedder, vectors, redactor }: Embeddings, text: string): Promise<Float32Array> {
  const safe = makeSafe(redactor, text);
  const digest = digestOf(safe, 'query');
  const known = vectors.get(digest);
  if (known !== null) return known;
  const [vector = new Float32Array()] = await embedder.embed([safe], 'query');
  vectors.put(new Map([[digest, vector]]));
  return vector;
}

function makeSafe(redactor: Redactor, text: string): string {
  return cutToBytes(redactor.redactText(text, { byHuman: true }), MAX_TEXT_BYTES);
}

interface Missing {
  digest: string;
  text: string;
}

function listMissing(
  { vectors }: Embeddings,
  texts: ReadonlyMap<string, Texts<unknown>>,
  numbers: number,
): Missing[] {
  const known = vectors.known([...texts.keys()], numbers);
  return [...texts].flatMap(([digest, { text }]) => (known.has(digest) ? [] : [{ digest, text }]));
}

interface EmbedOptions {
  numbers: number;
  /** No batch is begun after it. */
  deadline?: number;
  progress?: Progress | undefined;
  onBatch?: (count: number) => void;
}

/** What was embedded is kept batch by batch: whoever is stopped has lost one at most. */
async function embedMissing(
  { embedder, vectors, redactor, now }: Embeddings,
  missing: readonly Missing[],
  { numbers, deadline = Number.POSITIVE_INFINITY, progress, onBatch }: EmbedOptions,
): Promise<void> {
  for (let at = 0; at < missing.length && now() < deadline; at += embedder.batch) {
    progress?.(at, missing.length);
    const batch = missing.slice(at, at + embedder.batch);
    const made = await embedder.embed(
      batch.map(({ text }) => makeSafe(redactor, text)),
      'text',
    );
    if (made.some((vector) => vector.length !== numbers)) {
      throw new HandoverError(
        'HANDOVER_REMOTE_REFUSED',
        'the model answered with vectors of another length than before',
        {
          hint: 'See whether url and model below [search.meaning] in your config.toml name one model.',
        },
      );
    }
    vectors.put(
      new Map(
        batch.flatMap(({ digest }, index) => {
          const vector = made[index];
          return vector === undefined ? [] : [[digest, vector] as const];
        }),
      ),
    );
    onBatch?.(batch.length);
  }
  progress?.(missing.length, missing.length);
}
