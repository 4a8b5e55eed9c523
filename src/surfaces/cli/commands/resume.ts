import { buildCommand, type Command } from '@stricli/core';
import { countTokens } from '../../../handover/brief/compile.ts';
import type { ChangesSince } from '../../../model/workspace.ts';
import { listRunningSessions } from '../agents.ts';
import { type BriefFlags, briefFlags } from '../brief-flags.ts';
import type { CliContext } from '../context.ts';
import { refuseUnknown } from '../newest-here.ts';
import { readBriefFlags } from '../readers.ts';
import { resumeHere } from '../resume-here.ts';

export interface ResumeFlags extends BriefFlags {
  json: boolean;
}

export const resume: Command<CliContext> = buildCommand<ResumeFlags, [string?], CliContext>({
  func: runResume,
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        {
          parse: (input) => input,
          optional: true,
          brief: 'The project’s folder; this one if left out',
          placeholder: 'folder',
        },
      ],
    },
    flags: {
      ...briefFlags,
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Go on here: the newest brief of this worktree, and what changed since' },
});

export async function runResume(this: CliContext, flags: ResumeFlags, folder = '.'): Promise<void> {
  const { reader, options } = readBriefFlags(flags);
  const running = listRunningSessions(this.machine.env);
  const resumed = await resumeHere(this, { folder, reader, options, running });
  const { place, found, caughtUp, text } = resumed;
  if (text === '') throw refuseUnknown(place);
  if (!flags.json) {
    this.out.block(text);
    return;
  }
  if (found === null) {
    this.out.json({ id: null, target: reader.agent, budget: options.budget, ...tell(text) });
    return;
  }
  this.out.json({
    id: found.handover.id,
    target: reader.agent,
    budget: options.budget,
    tokens: countTokens(text),
    left_out: found.brief.leftOut.map((fact) => fact.id),
    changed: changesToJson(found.changes),
    caught_up: caughtUp.map(({ session, kept }) => ({
      agent: session.agent,
      session: session.id,
      outcome: kept.outcome,
      id: kept.outcome === 'refused' ? null : kept.handover.id,
    })),
    ...tell(text),
  });
}

/** The brief under our name for it, and under those of agent-handoff. */
function tell(text: string): { text: string; briefing: string; chars: number } {
  return { text, briefing: text, chars: text.length };
}

function changesToJson({ ageMs, branch, head, files }: ChangesSince): unknown {
  return { age_seconds: Math.floor(ageMs / 1000), branch, head, files };
}
