import * as v from 'valibot';
import { Redactor } from '../../src/redact/redactor.ts';
import { listTranscripts, readTranscript } from '../corpus/corpus.ts';
import { listTexts } from './count.ts';

const ROUNDS = 7;
const KEY = new Uint8Array(32);
const Other = v.object({ Redactor: v.custom<typeof Redactor>((value) => typeof value === 'function') });

/** Redacts the texts of all transcripts with this source and with another, in turn, and prints the least processor time of each. */
export async function compareSpeed(
  folder: string,
  { print, readClock }: { print: (line: string) => void; readClock: () => number },
): Promise<void> {
  const sessions = listTranscripts(folder).map((session) =>
    [...readTranscript(folder, session).rows].flatMap((row) => [...listTexts(row)]),
  );
  const size = sessions.flat().reduce((sum, text) => sum + text.length, 0);
  const other = v.parse(Other, await import(new URL('./other.js', import.meta.url).href));
  const time = (Class: typeof Redactor, texts: readonly string[]): number => {
    const start = readClock();
    const redactor = new Class({ key: () => KEY });
    for (const text of texts) redactor.redactText(text);
    return (readClock() - start) / 1e6;
  };
  // Of each session the best of some rounds counts, so that what else the machine does matters little.
  const best = { this: 0, other: 0 };
  for (const texts of sessions) {
    const times = Array.from({ length: ROUNDS }, () => [time(other.Redactor, texts), time(Redactor, texts)] as const);
    best.other += Math.min(...times.map(([first]) => first));
    best.this += Math.min(...times.map(([, second]) => second));
  }
  const rate = (seconds: number): string => `${(size / seconds / 1e6).toFixed(1)} million characters a second`;
  print(`this: ${rate(best.this)}; other: ${rate(best.other)}; ratio ${(best.other / best.this).toFixed(2)}`);
}
