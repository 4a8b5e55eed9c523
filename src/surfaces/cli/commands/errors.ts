import { buildCommand, type Command } from '@stricli/core';
import type { Remedy } from '../../../app/ask/remedy.ts';
import { askErrors, type SeenError, type SeenErrors } from '../../../app/ask/seen-errors.ts';
import { HandoverError } from '../../../errors.ts';
import { describeAge } from '../../../model/time.ts';
import { readIntact } from '../../../store/handovers.ts';
import { type CliContext, findStore } from '../context.ts';
import { toLimit } from '../filters.ts';
import { bold, dim, type Output } from '../output.ts';
import {
  openFact,
  type QuestionFlags,
  questionFlags,
  requireWords,
  shorten,
  widen,
  withFactSource,
} from '../question-flags.ts';
import { redactWords } from '../redact-words.ts';

const SHOWN = 5;
const MAX_INPUT_BYTES = 4 * 1024 * 1024;

export async function runErrors(this: CliContext, flags: QuestionFlags, words: string): Promise<void> {
  const given = requireWords(words === '-' ? readTrace(this) : words, 'what the error said');
  const text = await redactWords.call(this, given);
  const store = findStore(this);
  const answer = await withFactSource(this, flags, (source) =>
    askErrors(text, {
      source,
      read: (id) => readIntact(store, id),
      limit: toLimit(flags, SHOWN),
      home: this.machine.home,
    }),
  );
  if (flags.json) this.out.json(toJson(answer));
  else printAnswer(this, answer, flags);
}

function readTrace(context: CliContext): string {
  const text = context.readInput(MAX_INPUT_BYTES);
  if (text !== null) return text;
  throw new HandoverError('HANDOVER_TEXT_TOO_LARGE', `the text is longer than ${MAX_INPUT_BYTES} bytes`, {
    hint: 'Give only the lines that say what went wrong.',
  });
}

function toJson({ lines, seen, hasMore }: SeenErrors): unknown {
  return {
    lines,
    seen: seen.map((one) => ({
      ...one,
      remedy: one.remedy === null ? null : remedyToJson(one.remedy),
      open: openFact(one.handover, one.fact),
    })),
    has_more: hasMore,
  };
}

function remedyToJson({ isLater, ...remedy }: Remedy): unknown {
  return { ...remedy, in_later_session: isLater };
}

function printAnswer({ out, err, machine }: CliContext, answer: SeenErrors, flags: QuestionFlags): void {
  const { lines, seen, hasMore } = answer;
  if (seen.length === 0) {
    out.line('not seen before');
    for (const line of lines) out.line(dim(`  looked for: ${shorten(line)}`));
    err.line(dim('next: '), widen(flags, 'errors TEXT'));
    return;
  }
  for (const one of seen) printSeen(out, one, machine.clock.now());
  if (hasMore) err.line(dim('more were seen; all of them: --limit 0'));
}

const LIKENESS = { same: '', alike: ', the same of another file', near: ', much like it' } as const;

function printSeen(out: Output, seen: SeenError, now: number): void {
  const age = describeAge(now - Date.parse(seen.at));
  const { remedy } = seen;
  out.line(bold(seen.handover), `  ${seen.agent.padEnd(12)}  ${shorten(seen.text)}`);
  const command = seen.command === null ? '' : `, from ${seen.command}`;
  out.line(dim(`  ${seen.project.name}, ${age}, ${seen.state}${command}${LIKENESS[seen.likeness]}`));
  if (seen.because !== null) out.line(`  because: ${shorten(seen.because)}`);
  if (remedy !== null) {
    const where = remedy.isLater ? ` in ${remedy.handover}` : '';
    const then = remedy.succeeded === null ? 'a later run succeeded' : `${remedy.succeeded} succeeded`;
    out.line(`  then ${then}${where}, after:`);
    for (const said of remedy.said) out.line(`  - said: ${shorten(said)}`);
    for (const { change, path } of remedy.files) out.line(`  - ${change} ${path}`);
    for (const ran of remedy.commands) out.line(`  - ran ${shorten(ran)}`);
    if (remedy.said.length + remedy.files.length + remedy.commands.length === 0)
      out.line('  - nothing that is told');
  }
  out.line(dim(`  open it: ${openFact(seen.handover, seen.fact)}`));
}

export const errors: Command<CliContext> = buildCommand<QuestionFlags, [string], CliContext>({
  func: runErrors,
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        {
          parse: (input: string): string => input,
          brief: 'What an error said, or a whole trace; - reads it from standard input',
          placeholder: 'text',
        },
      ],
    },
    flags: questionFlags,
  },
  docs: { brief: 'Whether an error was seen before, and what made it go away' },
});
