import { buildCommand, type Command } from '@stricli/core';
import { HandoverError } from '../../../errors.ts';
import { compileBrief } from '../../../handover/brief/compile.ts';
import { describePlace } from '../../../platform/place.ts';
import { readMarked } from '../../../store/marks.ts';
import { moveStatus } from '../../../store/status.ts';
import { listRunningSessions } from '../agents.ts';
import { type BriefFlags, briefFlags } from '../brief-flags.ts';
import { findChangesHere } from '../changes-here.ts';
import { type CliContext, findStore } from '../context.ts';
import { readBriefFlags } from '../readers.ts';
import { terminalFlag } from '../terminal-flag.ts';
import { findWaiting } from '../waiting.ts';

export interface RestoreFlags extends BriefFlags {
  terminal?: string;
  json: boolean;
}

export const restore: Command<CliContext> = buildCommand<RestoreFlags, [], CliContext>({
  func: runRestore,
  parameters: {
    flags: {
      terminal: terminalFlag,
      ...briefFlags,
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Take up the newest handover of this worktree that still waits and is fresh, once' },
});

/** The status moves before the brief is printed: whoever comes second is told so, and gets nothing. */
export async function runRestore(this: CliContext, flags: RestoreFlags): Promise<void> {
  const { reader, options } = readBriefFlags(flags);
  const store = findStore(this);
  const place = describePlace('.', this.machine);
  const waiting = await findWaiting(this, place, flags.terminal);
  if (waiting === null) {
    throw new HandoverError('HANDOVER_NOT_FOUND', `nothing is kept of ${place.project.name} to restore`, {
      hint: 'See what is kept with: handover list --status',
    });
  }
  const { handover, restorability } = waiting;
  const [session] = listRunningSessions(this.machine.env);
  if (!restorability.ok) {
    const { reason, becomes } = restorability;
    if (becomes !== null) moveStatus(store, handover.id, { to: becomes, session, reason });
    throw new HandoverError(
      becomes === null ? 'HANDOVER_STATUS_FINAL' : 'HANDOVER_STALE',
      `handover ${handover.id} is not restored: ${reason}`,
      { hint: 'Read it all the same, with what changed since: handover resume', data: { id: handover.id } },
    );
  }
  const changes = findChangesHere(handover, place, this.machine);
  const brief = compileBrief(readMarked(store, handover), reader, { ...options, changes });
  moveStatus(store, handover.id, { to: 'consumed', session });
  if (flags.json)
    this.out.json({
      id: handover.id,
      status: 'consumed',
      target: reader.agent,
      tokens: brief.tokens,
      text: brief.text,
    });
  else this.out.block(brief.text);
}
