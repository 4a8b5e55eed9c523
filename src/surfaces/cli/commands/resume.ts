import { listRunningSessions } from '../../../app/context.ts';
import { nothingHereError, resumeHere } from '../../../app/resume.ts';
import { countTokens } from '../../../handover/brief/compile.ts';
import { briefFlags, readBriefFlags } from '../brief-flags.ts';
import type { CliContext } from '../context.ts';
import { command, type FlagValues, folderPositional, json } from '../flags.ts';

const flags = { ...briefFlags, json };

export const resume = command('resume', runResume, { positional: folderPositional, flags });

async function runResume(this: CliContext, values: FlagValues<typeof flags>, folder = '.'): Promise<void> {
  const { reader, options } = readBriefFlags(values, this.machine);
  const running = listRunningSessions(this.machine.env);
  const { place, found, caughtUp, text } = await resumeHere(this, { folder, reader, options, running });
  if (text === '') throw nothingHereError(place);
  if (!values.json) return this.out.block(text);
  const asked = { target: reader.agent, budget: options.budget };
  // The brief under our name for it, and under those of agent-handoff.
  const printed = { text, briefing: text, chars: text.length };
  if (found === null) return this.out.json({ id: null, ...asked, ...printed });
  const { ageMs, branch, head, files } = found.changes;
  this.out.json({
    id: found.handover.id,
    ...asked,
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
