import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { HandoverError } from '../../src/errors.ts';
import { parseJson } from '../../src/model/json.ts';
import { cleanLine } from '../../src/model/text.ts';
import { pathExists } from '../../src/platform/folders.ts';
import { describePhraseFault, type Phrase, parsePhrase } from './phrase.ts';

/** What a brief must tell. */
export const TOLD_KINDS = [
  'goal',
  'lastRequest',
  'openTasks',
  'done',
  'decisions',
  'rejected',
  'constraints',
  'nextAction',
  'testStatus',
  'openErrors',
] as const;
export type ToldKind = (typeof TOLD_KINDS)[number];

/** What is true at a cut, by kind. `stale` is what was true before and is not any more. */
export type Labels = Readonly<Record<ToldKind | 'running' | 'stale', readonly Phrase[]>>;

/** The labels of one cut of one session. */
export interface LabelledCut {
  /** The transcript, seen from the corpus. */
  file: string;
  /** How many records of the transcript come before it. */
  cut: number;
  labels: Labels;
}

const PhraseText = v.pipe(
  v.string(),
  v.check(
    (text) => describePhraseFault(text) === null,
    ({ input }) => describePhraseFault(input) ?? '',
  ),
);
const One = v.optional(
  v.pipe(
    PhraseText,
    v.transform((text) => (text.trim() === '' ? [] : [parsePhrase(text)])),
  ),
  '',
);
const Several = v.optional(
  v.array(
    v.pipe(
      PhraseText,
      v.check((text) => text.trim() !== '', 'is empty'),
      v.transform(parsePhrase),
    ),
  ),
  [],
);
const Entry = v.pipe(
  v.strictObject({
    file: v.pipe(v.string(), v.minLength(1)),
    cut: v.pipe(v.number(), v.integer(), v.minValue(1)),
    goal: One,
    lastRequest: One,
    openTasks: Several,
    done: Several,
    decisions: Several,
    rejected: Several,
    constraints: Several,
    nextAction: One,
    testStatus: One,
    openErrors: Several,
    running: Several,
    stale: Several,
  }),
  v.transform(({ file, cut, ...labels }): LabelledCut => ({ file, cut, labels })),
);
const LabelFile = v.pipe(v.array(Entry), v.minLength(1, 'has no entry'));

export function readLabels(path: string): LabelledCut[] {
  if (!pathExists(path)) {
    throw new HandoverError('HANDOVER_NOT_FOUND', `there is no file ${path}`, {
      hint: 'Give a file with labels: --labels FILE',
    });
  }
  const parsed = v.safeParse(LabelFile, parseJson(readFileSync(path, 'utf8'), path));
  if (!parsed.success) throw labelsError(path, describeIssue(parsed.issues[0]));
  const seen = new Set<string>();
  for (const [at, { file, cut }] of parsed.output.entries()) {
    const place = `${file} ${cut}`;
    if (seen.has(place)) throw labelsError(path, `entry ${at + 1}, field cut: ${cut} of ${file} is labelled twice`);
    seen.add(place);
  }
  return parsed.output;
}

/** Names the entry and the field, both counted from 1. */
function describeIssue({ path, message }: v.BaseIssue<unknown>): string {
  const [entry, field, item] = (path ?? []).map(({ key }) => key);
  const where = [
    ...(typeof entry === 'number' ? [`entry ${entry + 1}`] : []),
    ...(field === undefined ? [] : [`field ${cleanLine(String(field))}`]),
    ...(typeof item === 'number' ? [`item ${item + 1}`] : []),
  ].join(', ');
  return where === '' ? message : `${where}: ${message}`;
}

function labelsError(path: string, fault: string): HandoverError {
  return new HandoverError('HANDOVER_INPUT_INVALID', `the labels in ${path} are not valid: ${fault}`, {
    hint: 'The format and an example are in docs/evaluation.md',
  });
}
