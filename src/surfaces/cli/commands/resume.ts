import { resolve } from 'node:path';
import { listRunningSessions } from '../../../app/context.ts';
import { nothingHereError, pickToSend } from '../../../app/find-handover.ts';
import { resumeHere } from '../../../app/resume.ts';
import { usageError } from '../../../errors.ts';
import { countTokens } from '../../../handover/brief/compile.ts';
import type { Handover } from '../../../model/handover.ts';
import { isFolder, requireFolder } from '../../../platform/folders.ts';
import { findWorkFolder } from '../../../platform/project.ts';
import { briefFlags, readBriefFlags } from '../brief-flags.ts';
import type { CliContext } from '../context.ts';
import { command, type FlagValues, json, resumedPositional, text as textFlag } from '../flags.ts';

const flags = { ...briefFlags, from: textFlag('First sync with this remote', 'remote'), json };

export const resume = command('resume', runResume, { positional: resumedPositional, flags });

async function runResume(this: CliContext, values: FlagValues<typeof flags>, words = '.'): Promise<void> {
  const { reader, options } = readBriefFlags(values, this.machine);
  if (values.from !== undefined) await syncFirst(this, values.from);
  const running = listRunningSessions(this.machine.env);
  const asked = isFolder(resolve(this.machine.cwd, words)) ? { folder: words } : await findNamed(this, words);
  const { place, found, caughtUp, text } = await resumeHere(this, { ...asked, reader, options, running });
  if (text === '') throw await nothingHereError(this, place);
  if (!values.json) return this.out.block(text);
  const requested = { target: reader.agent, budget: options.budget };
  // The brief under our name for it, and under those of agent-handoff.
  const printed = { text, briefing: text, chars: text.length };
  if (found === null) return this.out.json({ id: null, ...requested, ...printed });
  const { ageMs, branch, head, files } = found.changes;
  this.out.json({
    id: found.handover.id,
    ...requested,
    tokens: countTokens(text),
    left_out: found.brief.leftOut.map((fact) => fact.id),
    changed: { age_seconds: Math.floor(ageMs / 1000), branch, head, files },
    caught_up: caughtUp.map(({ session, result }) => ({
      agent: session.agent,
      session: session.id,
      outcome: result.outcome === 'saved' ? 'kept' : result.outcome,
      id: result.outcome === 'refused' ? null : result.handover.id,
    })),
    ...printed,
  });
}

/** A handover of this project, or of any by its whole id; what changed since is looked for where its work was done. */
async function findNamed(context: CliContext, words: string): Promise<{ folder: string; handover: Handover }> {
  if (/[\\/]/.test(words)) requireFolder(resolve(context.machine.cwd, words));
  const handover = await pickToSend(context, words);
  return { folder: findWorkFolder(handover.workspace, handover.project, context.machine) ?? '.', handover };
}

/** The first sync is done by hand, as it shows what would be sent. */
async function syncFirst(context: CliContext, name: string): Promise<void> {
  const { isFirstSync, syncRemote } = await import('../../../app/sync.ts');
  const { requireRemote } = await import('../../../platform/remote-settings.ts');
  const settings = requireRemote(context.machine, name);
  if (isFirstSync(context, settings)) throw usageError(`${name} was never synced`, `First: handover sync ${name}`);
  await syncRemote(context, settings);
}
