import { bold, dim } from '../../../app/describe/styled-text.ts';
import {
  cleanUp,
  countStored,
  forgetEverything,
  forgetHandovers,
  forgetSessionText,
  noteHandoversOf,
} from '../../../app/forget.ts';
import { HandoverError, usageError } from '../../../errors.ts';
import { cleanLine, countNouns, cutToBytes } from '../../../model/text.ts';
import { describeAge } from '../../../model/time.ts';
import type { CatalogRow } from '../../../store/catalog.ts';
import type { CliContext } from '../context.ts';
import { command, conflictError, type FlagValues, json, repeated, terminalFlag, text, toggle } from '../flags.ts';

const flags = {
  session: text('Delete the stored text of this session, and do not read it again', 'session'),
  all: toggle('Delete everything that is stored, of every project'),
  yes: toggle('With --all: do it without asking'),
  json,
};
type ForgetFlags = FlagValues<typeof flags>;

export const forget = command('forget', runForget, {
  positional: repeated('An id, or its start or end', 'id'),
  flags,
});

async function runForget(this: CliContext, values: ForgetFlags, ...words: string[]): Promise<void> {
  const { out } = this;
  const report = (id: string): void => {
    if (!values.json) out.line('forgot handover ', bold(id));
  };
  if (values.all) return await forgetAll(this, values, { words, report });
  if (values.session !== undefined) {
    const session = await forgetSessionText(this, values.session);
    if (values.json) out.json({ forgotten_session: session });
    else out.line('forgot the text of session ', bold(session));
    if (words.length === 0) await noteHandoversOf(this, session);
  } else if (words.length === 0)
    throw usageError(
      'no handover and no session was named',
      'Pass ids, as handover list shows them: handover forget ID',
    );
  if (words.length === 0) return;
  const forgotten = await forgetHandovers(this, words, report);
  if (values.json) out.json({ forgotten });
}

async function forgetAll(
  context: CliContext,
  values: ForgetFlags,
  { words, report }: { words: readonly string[]; report(id: string): void },
): Promise<void> {
  if (words.length > 0 || values.session !== undefined) throw conflictError('--all', 'a name');
  if (!values.yes) await confirmAll(context);
  const forgotten = await forgetEverything(context, report);
  if (values.json) context.out.json({ forgotten });
  else {
    context.out.line('nothing is stored any more; files of agents and of projects stay as they are');
    context.out.line('to remove the hooks too: ', bold('handover init --remove'));
  }
}

async function confirmAll(context: CliContext): Promise<void> {
  const { ids, projects } = await countStored(context);
  const what = `${countNouns(ids.length, 'handover')} of ${countNouns(projects, 'project')}, and the text of all sessions`;
  if (!context.interactive)
    throw usageError(`this would delete ${what}; there is no terminal to ask in`, 'Do it: handover forget --all --yes');
  const { askYesNo } = await import('../prompts.ts');
  if (await askYesNo(`Delete ${what}, for good?`, false)) return;
  throw new HandoverError('HANDOVER_CANCELLED', 'nothing was deleted');
}

const cleanupFlags = { terminal: terminalFlag, dryRun: toggle('Show what would be deleted, delete nothing'), json };

export const cleanup = command('cleanup', runCleanup, { flags: cleanupFlags });

async function runCleanup(this: CliContext, values: FlagValues<typeof cleanupFlags>): Promise<void> {
  const { dryRun, terminal } = values;
  const now = this.machine.clock.now();
  const verb = dryRun ? 'would delete' : 'deleted';
  const onRemoved = ({ id, title, created_at, project }: CatalogRow): void => {
    if (values.json) return;
    const about = dim(`  ${project.name}, captured ${describeAge(now - Date.parse(created_at))}`);
    this.out.line(`${verb} `, bold(id), `  ${cutToBytes(cleanLine(title), 80)}`, about);
  };
  const { days, removed, removedSessions, kept } = await cleanUp(this, { terminal, dryRun, onRemoved });
  if (values.json)
    return this.out.json({ dry_run: dryRun, retention_days: days, removed, removed_sessions: removedSessions, kept });
  const count = removed.length === 0 ? 'no handover' : countNouns(removed.length, 'handover');
  const reasons = [
    ...(kept.latest === 0 ? [] : [`${kept.latest} as the latest of a worktree`]),
    ...(kept.pinned === 0 ? [] : [`${kept.pinned} with pinned facts`]),
  ];
  const rest = reasons.length === 0 ? '' : `; kept ${reasons.join(' and ')}`;
  this.out.line(`${verb} ${count} captured more than ${countNouns(days, 'day')} ago${rest}`);
  if (removedSessions.length > 0)
    this.out.line(`${verb} the text of ${countNouns(removedSessions.length, 'session')} whose transcripts are gone`);
}
