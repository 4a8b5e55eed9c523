import * as v from 'valibot';
import { catchIf, HandoverError, isHandoverError } from '../../errors.ts';
import { parseJson } from '../../model/json.ts';
import { parseSafeUrl, sendRequest } from '../../platform/http.ts';
import type { Machine } from '../../platform/machine.ts';
import { expandHome } from '../../platform/paths.ts';
import { readSecretFile } from '../../platform/secret-file.ts';
import type { SemanticSettings } from './settings.ts';
import { normalizeVector, type Side } from './vector-store.ts';

/** Turns texts into vectors that are near each other when the texts mean the same. */
export interface Embedder {
  /** Names the space of the vectors: vectors of different spaces cannot be compared. */
  readonly space: string;
  readonly batch: number;
  /**
   * A vector of length 1 for each text, in order, all with the same number of dimensions. Fails with a `HandoverError`,
   * within bounded time. Texts leave the machine here: they must be free of secrets.
   */
  embed(texts: readonly string[], side: Side): Promise<Float32Array[]>;
}

const MAX_NUMBERS = 4096;
/** Of a number in JSON, with its separator. */
const MAX_NUMBER_BYTES = 26;
const OTHER_BYTES = 64 * 1024;

const Answer = v.object({
  data: v.array(
    v.object({
      index: v.exactOptional(v.pipe(v.number(), v.integer())),
      embedding: v.pipe(v.array(v.number()), v.minLength(1), v.maxLength(MAX_NUMBERS)),
    }),
  ),
});

/** An embedder behind the API that OpenAI, Ollama, LM Studio, vLLM and others share: `POST …/embeddings`. */
export function openEndpoint(settings: SemanticSettings, machine: Machine): Embedder {
  const url = findUrl(settings);
  const key = findKey(settings, machine);
  const authorization = key === null ? {} : { authorization: `Bearer ${key}` };
  const prefixes: Record<Side, string> = { query: settings.query_prefix, text: settings.text_prefix };
  return {
    space: JSON.stringify([settings.model, settings.query_prefix, settings.text_prefix]),
    batch: settings.batch,
    embed: async (texts, side) => {
      const { status, text, whole } = await sendRequest(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...authorization },
        body: JSON.stringify({
          model: settings.model,
          input: texts.map((one) => prefixes[side] + one),
          encoding_format: 'float',
        }),
        timeoutMs: settings.timeout * 1000,
        maxBytes: texts.length * MAX_NUMBERS * MAX_NUMBER_BYTES + OTHER_BYTES,
      });
      if (status !== 200) throw statusError(url, status);
      if (!whole) throw answerError(url, 'too much data');
      return readVectors(url, text, texts.length);
    },
  };
}

function readVectors(url: URL, text: string, count: number): Float32Array[] {
  const json = catchIf(isHandoverError, null, () => parseJson(text, 'the answer'));
  const answer = v.safeParse(Answer, json);
  if (!answer.success) throw answerError(url, 'something other than vectors');
  const { data } = answer.output;
  if (data.length !== count) throw answerError(url, `${data.length} vectors for ${count} texts`);
  const placed = new Map(data.map(({ index, embedding }, place) => [index ?? place, embedding]));
  const lengths = new Set(data.map(({ embedding }) => embedding.length));
  if (lengths.size !== 1) throw answerError(url, 'vectors of different lengths');
  return data.map((_, place) => {
    const vector = normalizeVector(placed.get(place) ?? []);
    if (vector === null) throw answerError(url, 'vectors without a direction');
    return vector;
  });
}

function findUrl({ url }: SemanticSettings): URL {
  const safe = parseSafeUrl(url);
  if (safe !== null) return new URL(`${safe.href.replace(/\/+$/, '')}/embeddings`);
  const hint = 'Use an https:// address without user, query or fragment; http:// is allowed for this machine only.';
  throw unconfiguredError('search.meaning.url is not an address to send text to', { hint });
}

export function unconfiguredError(message: string, { hint }: { hint: string }): HandoverError {
  return new HandoverError('HANDOVER_MEANING_UNCONFIGURED', message, { hint });
}

/** Never from the command line, where other users could see it. Null when none is configured: a local model needs none. */
function findKey({ key_variable, key_file }: SemanticSettings, machine: Machine): string | null {
  if (key_variable === undefined && key_file === undefined) return null;
  const text = key_file === undefined ? machine.env[key_variable ?? ''] : readSecretFile(expandHome(key_file, machine));
  const key = text?.trim() ?? '';
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  const place = key_file === undefined ? `the variable ${key_variable}` : key_file;
  throw unconfiguredError(
    key === '' ? `there is no key in ${place}` : `${place} has characters that are not allowed in a key`,
    {
      hint: 'Check key_variable and key_file in [search.meaning] of your config.toml.',
    },
  );
}

function statusError(url: URL, status: number): HandoverError {
  const where = `${url.origin}${url.pathname}`;
  const later = { hint: 'Try again later.' };
  if (status === 429) return new HandoverError('HANDOVER_REMOTE_BUSY', `${where} is rate limiting (429)`, later);
  if (status >= 500) return new HandoverError('HANDOVER_REMOTE_UNREACHABLE', `${where} failed (${status})`, later);
  let why = 'did not accept the texts';
  if (status === 401 || status === 403) why = 'rejected the key';
  if (status >= 300 && status < 400) why = 'redirects to another address, which is not followed';
  return new HandoverError('HANDOVER_REMOTE_REFUSED', `${where} ${why} (${status})`, {
    hint: 'Check url, model and key in [search.meaning] of your config.toml.',
  });
}

function answerError(url: URL, what: string): HandoverError {
  const hint = 'Check that url and model in [search.meaning] of your config.toml name an embedding model.';
  return new HandoverError('HANDOVER_REMOTE_REFUSED', `${url.origin}${url.pathname} answered with ${what}`, { hint });
}
