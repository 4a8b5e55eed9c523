import { askErrors, type ErrorsAnswer, type PastError } from '../../../app/ask/errors.ts';
import { findStore, redactInput } from '../../../app/context.ts';
import { bold, dim } from '../../../app/describe/styled-text.ts';
import { withFactSource } from '../../../app/search.ts';
import { describeAge } from '../../../model/time.ts';
import { readIntact } from '../../../store/handovers.ts';
import type { CliContext } from '../context.ts';
import { toLimit } from '../filters.ts';
import { argument, command, readInputText, tuple } from '../flags.ts';
import type { Output } from '../output.ts';
import {
  openFact,
  type QuestionFlags,
  questionFlags,
  requireWords,
  shorten,
  suggestWider,
  toScope,
} from '../questions.ts';

export const errors = command('errors', runErrors, {
  positional: tuple(argument('The text of an error, or a whole trace; - reads standard input', 'text')),
  flags: questionFlags,
});

const SHOWN = 5;
const MAX_INPUT_BYTES = 4 * 1024 * 1024;

async function runErrors(this: CliContext, flags: QuestionFlags, words: string): Promise<void> {
  const hint = 'Pass only the lines that say what went wrong.';
  const given = words === '-' ? readInputText(this, hint, MAX_INPUT_BYTES) : words;
  const text = await redactInput(this, requireWords(given, 'the text of the error'));
  const store = findStore(this);
  const answer = await withFactSource(this, await toScope(flags, this), (source) =>
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

function toJson({ lines, seen, hasMore }: ErrorsAnswer): unknown {
  return {
    lines,
    seen: seen.map(({ remedy, ...one }) => {
      const { isLater, ...rest } = remedy ?? {};
      const described = remedy === null ? null : { ...rest, in_later_session: isLater };
      return { ...one, remedy: described, open: openFact(one.handover, one.fact) };
    }),
    has_more: hasMore,
  };
}

function printAnswer({ out, err, machine }: CliContext, answer: ErrorsAnswer, flags: QuestionFlags): void {
  const { lines, seen, hasMore } = answer;
  if (seen.length === 0) {
    out.line('not seen before');
    for (const line of lines) out.line(dim(`  looked for: ${shorten(line)}`));
    err.line(dim('next: '), suggestWider(flags, 'errors TEXT'));
    return;
  }
  for (const one of seen) printSeen(out, one, machine.clock.now());
  if (hasMore) err.line(dim('there are more; show all: the same with --limit 0'));
}

const STATES = { open: 'open', closed: 'closed', unknown: 'not seen to pass since' } as const;
const LIKENESS = { same: '', alike: ', the same in another file', near: ', similar' } as const;

function printSeen(out: Output, seen: PastError, now: number): void {
  const age = describeAge(now - Date.parse(seen.at));
  const { remedy } = seen;
  out.line(bold(seen.handover), `  ${seen.agent.padEnd(12)}  ${shorten(seen.text)}`);
  const command = seen.command === null ? '' : `, from ${seen.command}`;
  out.line(dim(`  ${seen.project.name}, ${age}, ${STATES[seen.state]}${command}${LIKENESS[seen.likeness]}`));
  if (seen.because !== null) out.line(`  because: ${shorten(seen.because)}`);
  if (remedy !== null) {
    const where = remedy.isLater ? ` in ${remedy.handover}` : '';
    const then = remedy.succeeded === null ? 'a later run succeeded' : `${remedy.succeeded} succeeded`;
    out.line(`  then ${then}${where}, after:`);
    for (const said of remedy.said) out.line(`  - said: ${shorten(said)}`);
    for (const { change, path } of remedy.files) out.line(`  - ${change} ${path}`);
    for (const ran of remedy.commands) out.line(`  - ran ${shorten(ran)}`);
    if (remedy.said.length + remedy.files.length + remedy.commands.length === 0) out.line('  - nothing on record');
  }
  out.line(dim(`  open it: ${openFact(seen.handover, seen.fact)}`));
}
