import * as v from 'valibot';
import { type Loopback, openLoopback, readBody } from './loopback.ts';

export const EMBEDDING_KEY = 'toy-key-0123456789';
const NUMBERS = 257;

/** Words that mean the same to the toy model. */
const SAME = new Map([
  ['automobile', 'car'],
  ['vehicle', 'car'],
  ['purchase', 'buy'],
  ['acquire', 'buy'],
  ['slow', 'latency'],
  ['sluggish', 'latency'],
]);

/** A toy model: texts are alike that have words in common, or synonyms. */
export function embedToy(text: string): number[] {
  const vector = Array.from({ length: NUMBERS }, () => 0);
  for (const word of text.toLowerCase().match(/[a-z]+/g) ?? []) {
    const meaning = SAME.get(word) ?? word;
    let place = 7;
    for (const char of meaning) place = (place * 31 + char.charCodeAt(0)) % NUMBERS;
    vector[place] = (vector[place] ?? 0) + 1;
  }
  vector[0] = (vector[0] ?? 0) + 0.01;
  return vector;
}

type Answer =
  | { status: number; headers?: Record<string, string>; body?: string }
  | 'stall'
  /** Says that it goes on, and does not. */
  | 'begin'
  | null;

export interface EmbeddingServer extends Loopback {
  /** What was sent, request by request. */
  requests: { texts: string[]; model: string; authorization: string | undefined; body: string }[];
  /** Null for what a model would answer. */
  answer: (texts: readonly string[], count: number) => Answer;
}

const Body = v.strictObject({
  model: v.string(),
  input: v.array(v.string()),
  encoding_format: v.literal('float'),
});

/** Speaks `POST /v1/embeddings` as Ollama, LM Studio, vLLM and OpenAI do. */
export async function openEmbeddingServer(): Promise<EmbeddingServer> {
  const loopback = await openLoopback((request, response) => {
    void readBody(request).then((bytes) => {
      const body = bytes.toString('utf8');
      const { model, input } = v.parse(Body, JSON.parse(body));
      const { authorization } = request.headers;
      server.requests.push({ texts: input, model, authorization, body });
      const answer = server.answer(input, server.requests.length);
      if (answer === 'stall') return;
      if (answer === 'begin') return void response.writeHead(200).write('{"data":[');
      if (answer !== null) return void response.writeHead(answer.status, answer.headers).end(answer.body);
      if (request.url !== '/v1/embeddings') return void response.writeHead(404).end();
      response.writeHead(200, { 'content-type': 'application/json' }).end(formatAnswer(input.map(embedToy)));
    });
  });
  const server: EmbeddingServer = { ...loopback, requests: [], answer: () => null };
  return server;
}

/** Out of order, as the interface allows. */
export function formatAnswer(vectors: readonly (readonly unknown[])[]): string {
  const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })).reverse();
  return JSON.stringify({ object: 'list', data, model: 'toy', usage: { prompt_tokens: 1, total_tokens: 1 } });
}
