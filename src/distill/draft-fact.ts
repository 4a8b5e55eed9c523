import { computeFactId, type Fact, type FactKind, MAX_FACT_TEXT_BYTES } from '../model/fact.ts';
import { cleanText, cutToBytes } from '../model/text.ts';

/** What a brief needs to weigh a fact: its own value, the values of the names in it, and how many calls ago it was. */
export interface Weight {
  points: number;
  age: number;
  names?: Record<string, number>;
}

interface FactParts extends Pick<Fact, 'trust' | 'origin'> {
  text: string;
  line: number;
  weight: Weight;
  status?: string;
  detail?: Record<string, unknown>;
  /** What the id is made of, where that is not the text. */
  subject?: string;
}

/** Null when nothing is left of the text after cleaning. */
export function draftFact(kind: FactKind, parts: FactParts): Fact | null {
  const text = cutToBytes(cleanText(parts.text).trim(), MAX_FACT_TEXT_BYTES);
  if (text === '') return null;
  return {
    id: computeFactId(kind, parts.subject ?? text),
    kind,
    text,
    ...(parts.status === undefined ? {} : { status: parts.status }),
    trust: parts.trust,
    origin: parts.origin,
    sources: [{ line: parts.line }],
    detail: { ...parts.detail, ...parts.weight },
  };
}
