/** A statement of a label: its words, and the key terms in it that decide whether a text says the same. */
export interface Phrase {
  text: string;
  /** Each is a list of alternatives, in lower case. */
  terms: readonly (readonly string[])[];
}

const TERM = /`([^`]+)`/g;
/** In tenths of the terms. */
const ENOUGH_TENTHS = 6;

/** Key terms stand between back-ticks, alternatives of one with a bar between them. */
export function parsePhrase(text: string): Phrase {
  return { text, terms: [...text.matchAll(TERM)].map(([, term = '']) => splitTerm(term)) };
}

function splitTerm(term: string): string[] {
  return term
    .split('|')
    .filter((alternative) => alternative !== '')
    .map((alternative) => alternative.toLowerCase());
}

/** Why a phrase cannot be looked for; null when it can, or when there is none. */
export function describePhraseFault(text: string): string | null {
  if (text.trim() === '') return null;
  if ((text.match(/`/g)?.length ?? 0) % 2 === 1) return `a back-tick of "${text}" is not closed`;
  const { terms } = parsePhrase(text);
  if (terms.length === 0) return `"${text}" has no key term between back-ticks`;
  return terms.some((alternatives) => alternatives.every((one) => one.trim() === ''))
    ? `"${text}" has an empty key term`
    : null;
}

/** Whether a text, in lower case, has at least 60 % of the key terms. */
export function isToldBy({ terms }: Phrase, lowerText: string): boolean {
  const found = terms.filter((alternatives) => alternatives.some((one) => lowerText.includes(one))).length;
  return terms.length > 0 && found >= Math.ceil((ENOUGH_TENTHS * terms.length) / 10);
}
