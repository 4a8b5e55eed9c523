import { buildCommand, type Command } from '@stricli/core';
import { HandoverError } from '../../../errors.ts';
import { forgetHandover } from '../../../store/handovers.ts';
import { type CliContext, findStore, withCatalog } from '../context.ts';
import { findNotes } from '../find-notes.ts';
import { bold } from '../output.ts';
import { pickNamed } from '../pick.ts';

export interface ForgetFlags {
  session?: string;
  json: boolean;
}

const text = (input: string): string => input;

export const forget: Command<CliContext> = buildCommand<ForgetFlags, string[], CliContext>({
  func: runForget,
  parameters: {
    positional: {
      kind: 'array',
      parameter: { parse: text, brief: 'An id, or the beginning of one', placeholder: 'id' },
    },
    flags: {
      session: {
        kind: 'parsed',
        parse: text,
        optional: true,
        brief: 'Delete what search keeps of the text of this session, and read it no more',
        placeholder: 'id',
      },
      json: { kind: 'boolean', default: false, withNegated: false, brief: 'Print JSON' },
    },
  },
  docs: { brief: 'Delete handovers, or the kept text of a session, for good' },
});

/** All names are resolved before the first handover goes: a wrong one leaves everything as it was. */
export async function runForget(this: CliContext, flags: ForgetFlags, ...words: string[]): Promise<void> {
  const store = findStore(this);
  if (flags.session !== undefined) await forgetText(this, flags, flags.session);
  else if (words.length === 0)
    throw new HandoverError('HANDOVER_USAGE', 'nothing was named', {
      hint: 'Give the ids of handovers, or a session with --session.',
    });
  if (words.length === 0) return;
  const ids: string[] = [];
  for (const word of words) ids.push(await pickNamed(store, word));
  const unique = [...new Set(ids)];
  const { forgetInCaches, forgetMeaning } = await import('../../../search/forget.ts');
  forgetMeaning(store, unique);
  for (const id of unique) {
    if (!forgetHandover(store, id)) {
      throw new HandoverError('HANDOVER_NOT_FOUND', `${id} was already gone`, {
        hint: 'See what is kept: handover list',
      });
    }
    if (!flags.json) this.out.line('forgot handover ', bold(id));
  }
  // The index holds titles and texts too: they go now, not when somebody lists next.
  await withCatalog(this, store, () => undefined);
  await forgetInCaches({ store, notes: await findNotes(this.machine) });
  if (flags.json) this.out.json({ forgotten: unique });
}

async function forgetText(context: CliContext, { json }: ForgetFlags, words: string): Promise<void> {
  const { openSession } = await import('../../../search/sessions/open-session.ts');
  const { forgetSession } = await import('../../../search/sessions/retention.ts');
  const store = findStore(context);
  const { head } = await openSession(store, words);
  forgetSession(store, head);
  if (json) context.out.json({ forgotten_session: head.id });
  else context.out.line('forgot the text of session ', bold(head.id));
}
