import { askErrors, askPassages, type ErrorsAnswer, listErrors, type PastError } from '../../../app/ask/errors.ts';
import { findStore, redactInput } from '../../../app/context.ts';
import { dim, yellow } from '../../../app/describe/styled-text.ts';
import { withFactSource } from '../../../app/search.ts';
import { quoteForShell } from '../../../model/text.ts';
import { describeAge } from '../../../model/time.ts';
import { readIntact } from '../../../store/handovers.ts';
import type { CliContext } from '../context.ts';
import { suggestAll, toLimit } from '../filters.ts';
import { command, optionalArgument, readInputText, tuple } from '../flags.ts';
import { type Output, showItem } from '../output.ts';
import * as questions from '../questions.ts';

export const errors = command('errors', runErrors, {
  positional: tuple(
    optionalArgument('The text of an error, or a whole trace; - reads standard input; all errors if left out', 'text'),
  ),
  flags: questions.askFlags,
});

const SHOWN = 5;
const LISTED = 10;
const MAX_INPUT_BYTES = 4 * 1024 * 1024;

async function runErrors(this: CliContext, flags: questions.AskFlags, words?: string): Promise<void> {
  if (words === undefined) return await printLatest(this, flags);
  const hint = 'Pass only the lines that say what went wrong.';
  const given = words === '-' ? readInputText(this, hint, MAX_INPUT_BYTES) : words;
  const text = await redactInput(this, questions.requireWords(given, 'the text of the error'));
  const store = findStore(this);
  const [scope, limit] = [await questions.toScope(flags, this), toLimit(flags, SHOWN)];
  const answer = await withFactSource(this, scope, (source) =>
    askErrors(text, { source, read: (id) => readIntact(store, id), limit, home: this.machine.home }),
  );
  // Of a failure only the lines that say most are kept.
  const isAnswered = (): boolean => answer.seen.length > 0;
  const question = { scope, limit, isAnswered, ...askPassages(text) };
  const uncaptured = await questions.askUncapturedSessions(this, question);
  if (flags.json) return this.out.json({ ...toJson(answer), ...questions.uncapturedToJson(uncaptured) });
  const typed = text.includes('\n') ? '-' : quoteForShell(text);
  const all = suggestAll(`errors ${typed}`, flags);
  printAnswer(this, answer, all);
  questions.printUncaptured(this, uncaptured, all);
  if (answer.seen.length > 0) return;
  await questions.printNext(this, flags, `errors ${typed}`);
  const sought = quoteForShell(answer.lines[0] ?? text);
  this.err.line(dim('next: '), `look for it in all that was said and printed: handover search --sessions ${sought}`);
}

/** The open and the latest errors of this project. */
async function printLatest(context: CliContext, flags: questions.AskFlags): Promise<void> {
  const { out, err, machine } = context;
  const store = findStore(context);
  const [scope, limit] = [await questions.toScope(flags, context), toLimit(flags, flags.json ? null : LISTED)];
  const options = { read: (id: string) => readIntact(store, id), limit, home: machine.home };
  const answer = await withFactSource(context, scope, (source) => listErrors({ source, ...options }));
  const uncaptured = await questions.askUncapturedSessions(context, { scope, limit, texts: [] });
  if (flags.json) return out.json({ ...toJson(answer), ...questions.uncapturedToJson(uncaptured) });
  for (const one of answer.seen) printSeen(out, { ...one, remedy: null }, machine.clock.now());
  if (answer.hasMore) err.line(dim(`there are more; show all: ${suggestAll('errors', flags)}`));
  const closed = answer.seen.find(({ state }) => state === 'closed');
  if (closed !== undefined) err.line(dim(`what fixed one of them: handover errors ${quoteForShell(closed.text)}`));
  if (answer.seen.length > 0) return;
  out.line('no captured session failed with an error');
  await questions.printNext(context, flags, 'errors');
}

function toJson({ lines, seen, hasMore }: ErrorsAnswer) {
  return {
    lines,
    seen: seen.map(({ remedy, ...one }) => {
      const { isLater, ...rest } = remedy ?? {};
      const described = remedy === null ? null : { ...rest, in_later_session: isLater };
      return { ...one, remedy: described, open: questions.openFact(one.handover, one.fact) };
    }),
    has_more: hasMore,
  };
}

/** `all` is the command that shows all sessions. */
function printAnswer({ out, err, machine }: CliContext, answer: ErrorsAnswer, all: string): void {
  const { lines, seen, hasMore } = answer;
  if (seen.length === 0) {
    out.line('no error that was captured is like this');
    for (const line of lines) out.line(dim(`  looked for: ${questions.shorten(line)}`));
    return;
  }
  for (const one of seen) printSeen(out, one, machine.clock.now());
  if (hasMore) err.line(dim(`there are more; show all: ${all}`));
}

const STATES = { open: 'open', closed: 'closed', unknown: 'not seen to pass since' } as const;
const LIKENESS = {
  same: '',
  alike: ', the same in another file',
  part: ', with these words',
  near: ', similar',
} as const;

function printSeen(out: Output, seen: PastError, now: number): void {
  const age = describeAge(now - Date.parse(seen.at));
  const { remedy } = seen;
  const state = seen.state === 'open' ? yellow(STATES.open) : dim(STATES[seen.state]);
  const command = seen.command === null ? '' : `, from ${seen.command}`;
  out.line(
    ...showItem(out, { id: seen.handover, agent: seen.agent, title: questions.shorten(seen.text) }),
    dim(`  ${seen.project.name}, ${age}, `),
    state,
    dim(`${command}${LIKENESS[seen.likeness]}`),
  );
  if (seen.because !== null) out.line(`  because: ${questions.shorten(seen.because)}`);
  if (remedy !== null) {
    const where = remedy.isLater ? ` in ${remedy.handover}` : '';
    out.line(`  then ${questions.shorten(remedy.succeeded)} succeeded${where}, after:`);
    for (const said of remedy.said) out.line(`  - said: ${questions.shorten(said)}`);
    for (const { change, path } of remedy.files) out.line(`  - ${change} ${path}`);
    for (const ran of remedy.commands) out.line(`  - ran ${questions.shorten(ran)}`);
  }
  out.line(dim(`  see it: ${questions.openFact(seen.handover, seen.fact)}`));
}
