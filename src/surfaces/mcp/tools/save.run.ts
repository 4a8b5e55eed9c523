import { loadAgent } from '../../../agents/table.ts';
import { saveDeclared } from '../../../app/capture/save-session.ts';
import { HandoverError } from '../../../errors.ts';
import { assertNotPaused } from '../../../memory/runs/pause-guard.ts';
import { describePlace } from '../../../platform/project.ts';
import { findProjectFolder } from '../../../platform/project-file.ts';
import { findStore, noteJournalFailure } from '../../cli/context.ts';
import type { Answer, Call } from '../call.ts';
import { findAgent } from '../connection.ts';
import { findOwnSession } from '../own-session.ts';
import type { Said } from './save.ts';

const KIND_NAMES = ['decision', 'constraint', 'rejected', 'next', 'question', 'blocker', 'note'] as const;

export async function save(call: Call, { pin, ...said }: Said): Promise<Answer> {
  const declared = KIND_NAMES.flatMap((kind) => (said[kind] ?? []).map((words) => ({ kind, text: words })));
  if (declared.length === 0)
    throw new HandoverError('HANDOVER_USAGE', 'there is nothing to save', {
      hint: `give at least one of ${KIND_NAMES.join(', ')}, each a list of texts`,
    });
  const place = describePlace('.', call.machine);
  assertNotPaused(call.machine, findProjectFolder(place.root));
  const session = await findOwnSession(call, place);
  const kept = await saveDeclared(
    findStore(call),
    {
      agent: session?.agent ?? findAgent(call.connection) ?? 'mcp',
      facts: declared,
      pinned: pin,
      session: session === null ? null : { agent: await loadAgent(session.agent), session },
    },
    place,
  );
  noteJournalFailure(call, kept);
  const { handover, facts, outcome } = kept;
  return {
    text: `${outcome === 'kept' ? 'saved in' : 'was kept already in'} handover ${handover.id}: ${facts.map(({ id, kind }) => `${kind} ${id}`).join(', ')}`,
    data: {
      handover: handover.id,
      changed: outcome === 'kept',
      session: handover.session.id,
      facts: facts.map(({ id, kind, text: words }) => ({ id, kind, text: words })),
    },
  };
}
