import type { Fact } from '../model/fact.ts';
import type { HandoverDraft } from '../model/handover.ts';
import { RULES } from './rules.ts';

type Redactions = HandoverDraft['redactions'];

const MARK = '[redacted: ';

export function hasRedactions(text: string): boolean {
  return text.includes(MARK);
}

/** Takes secrets out of texts, and counts by kind how many different ones there were. Redacting twice changes nothing. */
export class Redactor {
  readonly #found = new Map<string, Set<string>>();

  get redactions(): Redactions {
    return [...this.#found]
      .map(([kind, secrets]) => ({ kind, count: secrets.size }))
      .sort((a, b) => (a.kind < b.kind ? -1 : 1));
  }

  redactText(text: string): string {
    let rest = text;
    for (const { kind, pattern } of RULES) {
      rest = rest.replace(pattern, (secret) => {
        this.#found.set(kind, (this.#found.get(kind) ?? new Set()).add(secret));
        return `${MARK}${kind}]`;
      });
    }
    return rest;
  }

  /** The texts in a fact, wherever they stand. Its id stays, so that it is known again. */
  redactFact(fact: Fact): Fact {
    const text = this.redactText(fact.text);
    return fact.detail === undefined
      ? { ...fact, text }
      : { ...fact, text, detail: this.#redactRecord(fact.detail) };
  }

  /** A value of JSON with all its texts, also those that are names of members. */
  redactValue(value: unknown): unknown {
    if (typeof value === 'string') return this.redactText(value);
    if (Array.isArray(value)) return value.map((item) => this.redactValue(item));
    return typeof value === 'object' && value !== null ? this.#redactRecord(value) : value;
  }

  #redactRecord(record: object): Record<string, unknown> {
    return Object.fromEntries(
      Object.entries(record).map(([key, value]) => [this.redactText(key), this.redactValue(value)]),
    );
  }
}

/** Stands in every text in which a rule could find something: most texts are let pass by this alone. */
const SUSPICIOUS =
  /-----BEGIN|AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|hooks\.slack|sk-|AIza|[rs]k_(?:live|test)_|npm_|pypi-|hf_|eyJ|Bearer |:\/\/[^\s/:@]{1,100}:|(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY) ?=/;

/** Whether a secret shows in any text of a value, which may be made of maps and sets too. */
export function holdsSecret(value: unknown): boolean {
  if (typeof value === 'string') return SUSPICIOUS.test(value) && new Redactor().redactText(value) !== value;
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return false;
  if (value instanceof Map) return [...value].some(holdsSecret);
  if (Array.isArray(value) || value instanceof Set) return [...value].some(holdsSecret);
  return Object.values(value).some(holdsSecret);
}
