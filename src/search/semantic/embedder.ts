/** What a text is to be compared as: some models tell questions from what may answer them. */
export type Side = 'query' | 'text';

/** Turns texts into vectors that are near each other when the texts mean the same. */
export interface Embedder {
  /** Names the space of the vectors: those of another one tell nothing about these. */
  readonly space: string;
  /** At most so many texts at once. */
  readonly batch: number;
  /**
   * A vector of length 1 for each text, in their order, all with as many numbers. Whatever goes wrong, within bounded
   * time, is a `HandoverError`. Texts leave the machine here: they must be free of secrets.
   */
  embed(texts: readonly string[], side: Side): Promise<Float32Array[]>;
}

/** The vector as 32-bit numbers with the length 1; null when it has no direction, or is not made of numbers. */
export function normalizeVector(numbers: readonly number[]): Float32Array | null {
  const largest = numbers.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
  if (!Number.isFinite(largest) || largest === 0) return null;
  const scaled = numbers.map((number) => number / largest);
  const length = Math.sqrt(scaled.reduce((sum, number) => sum + number * number, 0));
  return Float32Array.from(scaled, (number) => number / length);
}

/** How near two vectors of length 1 are, from -1 to 1. */
export function compareVectors(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
