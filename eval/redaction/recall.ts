import { randomBytes } from 'node:crypto';
import { limitRawOutput } from '../../src/model/event.ts';
import { cleanText } from '../../src/model/text.ts';
import { redactEvent } from '../../src/redact/redact-event.ts';
import { Redactor } from '../../src/redact/redactor.ts';
import {
  type LabelledSecret,
  rollDice,
  writeNamedSecret,
  writePlacements,
} from '../../test/fixtures/secrets/write-secrets.ts';

/** How many secrets there were, and which of them were left. */
export interface Recall {
  tried: number;
  left: LabelledSecret[];
}

const KEY: Uint8Array = randomBytes(32);
/** As much as is kept of each end of a long output, less a little. */
const [HEAD, TAIL] = [16_000, 8_000];

/** What a capture would keep of a text that a tool printed. */
export function keepOutput(output: string): string {
  const place = { at: null, ref: { line: 1, id: null }, call: 'call' };
  const event = { type: 'result', ...place, ok: true, exit: 0, output: limitRawOutput(output) } as const;
  const redacted = redactEvent(event, new Redactor({ key: () => KEY }));
  return cleanText(redacted.type === 'result' ? redacted.output : '');
}

const WORDS = 'and then it went on as it had before\n';

/** Long outputs that are cut in the middle of the text, at the end of what is kept first and at the beginning of the rest. */
export function listCuts(text: string, share: number): string[] {
  const reach = Math.floor(text.length * share);
  const write = (length: number): string => WORDS.repeat(Math.ceil(length / WORDS.length)).slice(-length);
  return [
    `${write(HEAD - reach)}${text}\n${write(60_000)}`,
    `${write(60_000)}${text}\n${write(TAIL - reach)}`,
    `${write(HEAD - reach)}${text}\n${write(200_000)}`,
    `${write(200_000)}${text}\n${write(TAIL - reach)}`,
  ];
}

/** Whether so much of the beginning or end of a line of it stays that it would be of use: the half, or 40 characters. */
export function isLeft({ secret }: LabelledSecret, kept: string): boolean {
  return secret
    .split('\n')
    .filter((line) => line.length >= 8 && !/^-{4}|[ :]/.test(line))
    .some((line) => {
      const half = Math.min(Math.ceil(line.length / 2), 40);
      return kept.includes(line.slice(0, half)) || kept.includes(line.slice(-half));
    });
}

function measure(secrets: Iterable<LabelledSecret>): Recall {
  const recall: Recall = { tried: 0, left: [] };
  for (const secret of secrets) {
    recall.tried++;
    if (isLeft(secret, keepOutput(secret.text))) recall.left.push(secret);
  }
  return recall;
}

/** Every kind in every form. */
export function measurePlacements(seed: number): { secrets: LabelledSecret[]; recall: Recall } {
  const secrets = writePlacements(seed);
  return { secrets, recall: measure(secrets) };
}

/** Every kind where a long output is cut. */
export function measureCuts(seed: number): Recall {
  const dice = rollDice(seed);
  const recall: Recall = { tried: 0, left: [] };
  for (const secret of writePlacements(seed + 1)) {
    // Keys are long, and of the others one in ten will do.
    if (secret.kind !== 'private-key' && secret.kind !== 'putty-key' && dice(10) > 0) continue;
    for (const output of listCuts(secret.text, (dice(90) + 5) / 100)) {
      recall.tried++;
      if (isLeft(secret, keepOutput(output))) recall.left.push({ ...secret, form: `cut, ${secret.form}` });
    }
  }
  return recall;
}

/** Values of all kinds under names of all kinds. */
export function measureNamed(seed: number, tries: number): Recall {
  const dice = rollDice(seed);
  return measure(Array.from({ length: tries }, () => writeNamedSecret(dice)));
}
