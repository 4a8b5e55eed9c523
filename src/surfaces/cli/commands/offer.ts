import { findStore } from '../../../app/context.ts';
import { listTasks, lookUpTask, offerNamed } from '../../../app/custody.ts';
import { describeHeld, findTitle, printHeld } from '../../../app/describe/held-task.ts';
import { bold, dim, green, yellow } from '../../../app/describe/styled-text.ts';
import { releaseNamed } from '../../../app/lease.ts';
import { EXIT } from '../../../errors.ts';
import { describeCustody } from '../../../exchange/remote/custody.ts';
import type { Custody } from '../../../exchange/remote/register.ts';
import { cleanLine, countNouns } from '../../../model/text.ts';
import type { CliContext } from '../context.ts';
import {
  argument,
  command,
  type FlagValues,
  json,
  optionalArgument,
  redactedText,
  text,
  toggle,
  tuple,
} from '../flags.ts';

const remote = text('The remote; default: the project’s, or your only one', 'name');

const offerFlags = {
  to: redactedText('Only for the signer of this name', 'whom'),
  label: redactedText('What a fleet picks it by: take --next --label', 'label'),
  remote,
  json,
};

export const offer = command('offer', runOffer, {
  positional: tuple(argument('The handover: an id, its start or end, or latest', 'id')),
  flags: offerFlags,
});

async function runOffer(this: CliContext, values: FlagValues<typeof offerFlags>, words: string): Promise<void> {
  const { handover, custody, remote: name } = await offerNamed(this, { ...values, words });
  if (values.json) return this.out.json({ ...describeState(custody), remote: name });
  const whom = custody.to === null ? '' : ` to ${custody.to}`;
  this.out.line('offered ', bold(handover.id), `${whom} on ${name}  `, dim(this.out.fit(handover.title, 60)));
  this.out.line(dim(`whoever takes it: handover take ${handover.id}`));
}

function describeState({ task, project, number, state, holder, to, label, until, at, offered_at }: Custody) {
  return { task, project, number, state, holder: holder.name, writer: holder.writer, to, label, until, at, offered_at };
}

const releaseFlags = { done: toggle('It is done, or need not be: nobody takes it again'), remote, json };

export const release = command('release', runRelease, {
  positional: tuple(optionalArgument('The task: an id, its start or end; default: that of this worktree', 'id')),
  flags: releaseFlags,
});

async function runRelease(this: CliContext, values: FlagValues<typeof releaseFlags>, words?: string): Promise<void> {
  const state = values.done ? 'done' : 'released';
  const { held, outcome } = await releaseNamed(this, { words, state, remote: values.remote });
  const { task, fence, remote: name } = held;
  if (values.json) return this.out.json({ task, fence, remote: name, outcome });
  this.out.line(`${outcome} `, bold(task), dim(`  ${this.out.fit(findTitle(findStore(this), task) ?? '', 40)}`));
}

const whoFlags = { remote, json };

export const who = command('who', runWho, {
  positional: tuple(
    optionalArgument('The task: an id, its start or end; default: what you hold, and what is open', 'id'),
  ),
  flags: whoFlags,
});

async function runWho(this: CliContext, values: FlagValues<typeof whoFlags>, words?: string): Promise<void> {
  if (words === undefined) return await listAll(this, values);
  const { task, custody, isOpen, held, isOurs } = await lookUpTask(this, words, values.remote);
  const late = held?.late ?? null;
  if (isOurs === false) this.process.exitCode = EXIT.refused;
  if (values.json) {
    const state = custody === null ? null : describeState(custody);
    return this.out.json({ task, open: isOpen, late, state, ...(isOurs === undefined ? {} : { ours: isOurs }) });
  }
  const what = custody === null ? 'nobody offered or took it' : describeCustody(custody);
  const number = custody === null ? '' : `  number ${custody.number}`;
  this.out.line(bold(task), '  ', isOpen ? green(what) : what, dim(number));
  if (custody?.state === 'held' && isOpen) this.out.line(dim('its lease is over: whoever is next may take it'));
  if (late !== null)
    this.out.line(yellow('late: '), `your number ${held?.fence} is behind that of ${cleanLine(late.holder)}`);
}

async function listAll(context: CliContext, values: FlagValues<typeof whoFlags>): Promise<void> {
  const { held, open, elsewhere } = await listTasks(context, values.remote);
  const { out } = context;
  const store = findStore(context);
  if (values.json)
    return out.json({ held: held.map((one) => describeHeld(store, one)), open: open.map(describeState) });
  for (const one of held) out.line(...printHeld(store, one));
  for (const custody of open) {
    const title = findTitle(store, custody.task);
    const label = custody.label === null ? '' : `  [${custody.label}]`;
    const to = custody.state === 'offered' && custody.to !== null ? dim(`  for ${cleanLine(custody.to)}`) : '';
    const what = title === null ? dim('its handover is not here (handover sync)') : out.fit(title, 40);
    out.line(green('open  '), bold(custody.task), `${label}  `, what, to);
  }
  if (held.length + open.length > 0) return;
  out.line('you hold no task, and none of this project is open');
  if (elsewhere > 0)
    out.line(
      dim(
        `${countNouns(elsewhere, 'task')} of other projects ${elsewhere === 1 ? 'is' : 'are'}: handover take --next AGENT`,
      ),
    );
}
