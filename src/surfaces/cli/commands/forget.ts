import { bold } from '../../../app/describe/styled-text.ts';
import { usageError } from '../../../app/failure.ts';
import { forgetHandovers, forgetSessionText } from '../../../app/forget.ts';
import type { CliContext } from '../context.ts';
import { command, type FlagValues, json, repeated, text } from '../flags.ts';

const flags = { session: text('Delete the stored text of this session, and do not read it again', 'id'), json };
type ForgetFlags = FlagValues<typeof flags>;

export const forget = command('forget', runForget, {
  positional: repeated('An id, or the start of one', 'id'),
  flags,
});

async function runForget(this: CliContext, values: ForgetFlags, ...words: string[]): Promise<void> {
  const { out } = this;
  if (values.session !== undefined) {
    const session = await forgetSessionText(this, values.session);
    if (values.json) out.json({ forgotten_session: session });
    else out.line('forgot the text of session ', bold(session));
  } else if (words.length === 0)
    throw usageError('no handover and no session was named', 'Pass the ids of handovers, or a session with --session.');
  if (words.length === 0) return;
  const forgotten = await forgetHandovers(this, words, (id) => {
    if (!values.json) out.line('forgot handover ', bold(id));
  });
  if (values.json) out.json({ forgotten });
}
