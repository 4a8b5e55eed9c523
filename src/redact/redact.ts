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
