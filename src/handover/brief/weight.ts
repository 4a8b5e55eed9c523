import type { Fact } from '../../model/fact.ts';

/** What distilling left with a fact, read back from its detail. A fact without it was declared, and counts in full. */
export interface FactWeight {
  points: number;
  age: number;
  names: ReadonlyMap<string, number>;
  /** Points for being what it is, apart from its words. */
  lasting: number;
  /** Points for each word that nothing else in the brief has. */
  wordPoints: number;
  edits: number;
  /** Edits that did not happen. */
  failures: number;
  role: string | null;
}

const DECLARED_POINTS = 100_000;

export function weighFact(fact: Fact): FactWeight {
  const detail = fact.detail ?? {};
  return {
    points: numberOr(detail.points, DECLARED_POINTS),
    age: numberOr(detail.age, 0),
    names: readNames(detail.names),
    lasting: numberOr(detail.lasting, 0),
    wordPoints: numberOr(detail.word, 0),
    edits: numberOr(detail.edits, 0),
    failures: numberOr(detail.failures, 0),
    role: typeof detail.role === 'string' ? detail.role : null,
  };
}

/** The line of the session's transcript on which a fact was seen; 0 for what is of another session, or of none. */
export function lineOf({ sources: [source] }: Fact): number {
  return source?.session === undefined ? (source?.line ?? 0) : 0;
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
}

function readNames(value: unknown): Map<string, number> {
  if (typeof value !== 'object' || value === null) return new Map();
  return new Map(
    Object.entries(value).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  );
}
