import { randomBytes } from 'node:crypto';
import { Redactor, splitAtPlaceholders } from '../../src/redact/redactor.ts';

/** What was taken out of transcripts. */
export interface Tally {
  /** Rows of transcripts, and lines of the texts in them. */
  rows: number;
  lines: number;
  /** By kind: each place once, with what stands around it. */
  places: Map<string, string[]>;
}

export function startTally(): Tally {
  return { rows: 0, lines: 0, places: new Map() };
}

const AROUND = 60;

/** Counts what a redactor takes out of the texts of a transcript, as they stand in its parsed rows. */
export function countRedactions(rows: Iterable<unknown>, tally: Tally): void {
  const redactor = new Redactor({ key: () => KEY });
  for (const row of rows) {
    tally.rows++;
    for (const text of listTexts(row)) {
      tally.lines += text.split('\n').length;
      const pieces = splitAtPlaceholders(redactor.redactText(text));
      const before = splitAtPlaceholders(text).length;
      if (pieces.length > before) notePlaces(pieces, tally);
    }
  }
}

const KEY: Uint8Array = randomBytes(32);

function notePlaces(pieces: readonly string[], { places }: Tally): void {
  for (let at = 1; at < pieces.length; at += 2) {
    const [, kind = ''] = /^\[redacted:([a-z0-9-]+):/.exec(pieces[at] ?? '') ?? [];
    const around = `${pieces[at - 1]?.slice(-AROUND)}${pieces[at]}${pieces[at + 1]?.slice(0, AROUND)}`;
    places.set(kind, [...(places.get(kind) ?? []), JSON.stringify(around)]);
  }
}

export function* listTexts(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) yield* listTexts(item);
}
