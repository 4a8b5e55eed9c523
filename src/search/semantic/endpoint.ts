import * as v from 'valibot';
import { HandoverError } from '../../errors.ts';
import { parseJson } from '../../model/json.ts';
import { parseSafeUrl, sendRequest } from '../../platform/http.ts';
import type { Machine } from '../../platform/machine.ts';
import { expandHome } from '../../platform/paths.ts';
import { readSecretFile } from '../../platform/secret-file.ts';
import { type Embedder, normalizeVector, type Side } from './embedder.ts';
import type { MeaningSettings } from './settings.ts';

const MAX_NUMBERS = 4096;
/** Of a number in JSON, with what stands between two of them. */
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

/** An embedder behind the interface that OpenAI, Ollama, LM Studio, vLLM and others share: `POST …/embeddings`. */
export function openEndpoint(settings: MeaningSettings, machine: Machine): Embedder {
  const url = findUrl(settings);
  const key = findKey(settings, machine);
  const prefixes: Record<Side, string> = { query: settings.query_prefix, text: settings.text_prefix };
  return {
    space: JSON.stringify([settings.model, settings.query_prefix, settings.text_prefix]),
    batch: settings.batch,
    embed: async (texts, side) => {
      const { status, text, whole } = await sendRequest(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        },
        body: JSON.stringify({
          model: settings.model,
          input: texts.map((one) => prefixes[side] + one),
          encoding_format: 'float',
        }),
        timeoutMs: settings.timeout * 1000,
        maxBytes: texts.length * MAX_NUMBERS * MAX_NUMBER_BYTES + OTHER_BYTES,
      });
      if (status !== 200) throw refuseStatus(url, status);
      if (!whole) throw refuseAnswer(url, 'more than vectors can be');
      return readVectors(url, text, texts.length);
    },
  };
}

function readVectors(url: URL, text: string, count: number): Float32Array[] {
  const answer = v.safeParse(Answer, parseOrNull(text));
  if (!answer.success) throw refuseAnswer(url, 'something else than vectors');
  const { data } = answer.output;
  if (data.length !== count) throw refuseAnswer(url, `${data.length} vectors for ${count} texts`);
  const placed = new Map(data.map(({ index, embedding }, place) => [index ?? place, embedding]));
  const lengths = new Set(data.map(({ embedding }) => embedding.length));
  if (lengths.size !== 1) throw refuseAnswer(url, 'vectors of different lengths');
  return data.map((_, place) => {
    const vector = normalizeVector(placed.get(place) ?? []);
    if (vector === null) throw refuseAnswer(url, 'vectors that point nowhere');
    return vector;
  });
}

function parseOrNull(text: string): unknown {
  try {
    return parseJson(text, 'the answer');
  } catch (error) {
    if (error instanceof HandoverError) return null;
    throw error;
  }
}

function findUrl({ url }: MeaningSettings): URL {
  const safe = parseSafeUrl(url);
  if (safe !== null) return new URL(`${safe.href.replace(/\/+$/, '')}/embeddings`);
  throw new HandoverError(
    'HANDOVER_MEANING_UNCONFIGURED',
    'search.meaning.url is not an address to send text to',
    {
      hint: 'Give an https:// address without a user, a query or a fragment; http:// is for this machine alone.',
    },
  );
}

/** Never from the command line, where other users could see it. Null where none is asked for: a local model needs none. */
function findKey({ key_variable, key_file }: MeaningSettings, machine: Machine): string | null {
  if (key_variable === undefined && key_file === undefined) return null;
  const text =
    key_file === undefined ? machine.env[key_variable ?? ''] : readSecretFile(expandHome(key_file, machine));
  const key = text?.trim() ?? '';
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  const place = key_file === undefined ? `the variable ${key_variable}` : key_file;
  throw new HandoverError(
    'HANDOVER_MEANING_UNCONFIGURED',
    key === '' ? `there is no key in ${place}` : `${place} has characters that no key has`,
    { hint: 'See key_variable and key_file below [search.meaning] in your config.toml.' },
  );
}

function refuseStatus(url: URL, status: number): HandoverError {
  const where = `${url.origin}${url.pathname}`;
  if (status === 429)
    return new HandoverError('HANDOVER_REMOTE_BUSY', `${where} asks for patience (429)`, {
      hint: 'Try again later.',
    });
  if (status >= 500)
    return new HandoverError('HANDOVER_REMOTE_UNREACHABLE', `${where} is out of order (${status})`, {
      hint: 'Try again later.',
    });
  const why =
    status === 401 || status === 403
      ? 'refused the key'
      : status >= 300 && status < 400
        ? 'points to another address, which is not followed'
        : 'did not take the texts';
  return new HandoverError('HANDOVER_REMOTE_REFUSED', `${where} ${why} (${status})`, {
    hint: 'See url, model and key below [search.meaning] in your config.toml.',
  });
}

function refuseAnswer(url: URL, what: string): HandoverError {
  return new HandoverError('HANDOVER_REMOTE_REFUSED', `${url.origin}${url.pathname} answered with ${what}`, {
    hint: 'See whether url and model below [search.meaning] in your config.toml name a model for embeddings.',
  });
}
