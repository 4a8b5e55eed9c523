import { describe, expect, it } from 'vitest';
import { HandoverError } from '../../../src/errors.ts';
import type { Embedder } from '../../../src/search/semantic/endpoint.ts';
import { compareVectors } from '../../../src/search/semantic/vector-store.ts';

export interface EmbedderCase {
  embedder: Embedder;
  /** From now on nothing can be embedded. */
  cutOff(): Promise<void>;
}

/** What every embedder must do, whatever makes its vectors. */
export function testEmbedder(name: string, open: () => Promise<EmbedderCase>): void {
  const texts = ['the car is red', 'an automobile', 'a database index', 'über 😀 "quoted"\n\\', 'x'];

  describe(`embedding by ${name}`, () => {
    it('gives a vector of length 1 for each text, all with as many numbers', async () => {
      const { embedder } = await open();
      const vectors = await embedder.embed(texts, 'text');
      expect(vectors).toHaveLength(texts.length);
      expect(new Set(vectors.map((vector) => vector.length)).size).toBe(1);
      for (const vector of vectors) expect(compareVectors(vector, vector)).toBeCloseTo(1, 4);
    });

    it('gives them in the order of the texts, the same alone and together', async () => {
      const { embedder } = await open();
      const together = await embedder.embed(texts, 'text');
      for (const [index, text] of texts.entries()) {
        const [alone = new Float32Array()] = await embedder.embed([text], 'text');
        expect(compareVectors(alone, together[index] ?? new Float32Array())).toBeCloseTo(1, 4);
      }
    });

    it('gives similar vectors for texts with the same meaning', async () => {
      const { embedder } = await open();
      const [query = new Float32Array()] = await embedder.embed(['vehicle'], 'query');
      const [same = query, other = query] = await embedder.embed(['an automobile', 'a database index'], 'text');
      expect(compareVectors(query, same)).toBeGreaterThan(compareVectors(query, other));
    });

    it('fails with a code and a hint', async () => {
      const { embedder, cutOff } = await open();
      await cutOff();
      const failure = await embedder.embed(['x'], 'text').catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(HandoverError);
      expect(failure).toMatchObject({ hint: expect.stringMatching(/\w/) });
    });
  });
}
