import { cleanLine } from '../../model/text.ts';
import { SCAN_LIMITS } from '../../search/query.ts';
import type { SearchAnswer } from '../../search/search.ts';
import type { Context } from './context.ts';
import { dim, yellow } from './output.ts';

/** Says what a search could not look at, and why, once. */
export function noteShortcomings(
  { err }: Pick<Context, 'err'>,
  answer: Partial<Pick<SearchAnswer, 'sessions' | 'meaning' | 'indexFailure'>>,
): void {
  const { sessions, meaning, indexFailure = null } = answer;
  noteIndexFailure({ err }, { indexFailure });
  if (meaning?.trouble) {
    const { message, hint } = meaning.trouble;
    err.line(yellow('note: '), `searched by words alone, or nearly: ${message}`);
    if (hint !== undefined) err.line(dim('  next: '), hint);
  } else if (meaning !== undefined && meaning.missing > 0) {
    const known = meaning.texts - meaning.missing;
    err.line(
      yellow('note: '),
      `meaning is known of ${known} of ${meaning.texts} facts; of all with: handover search --embed`,
    );
  }
  if (sessions === undefined) return;
  if (sessions.by === 'scan')
    err.line(
      yellow('note: '),
      `without SQLite only the newest ${SCAN_LIMITS.sessions} sessions are searched`,
    );
  if (sessions.behind > 0)
    err.line(
      yellow('note: '),
      `${tellCount(sessions.behind)} not read yet, so what was said there is not found; read all with: handover search --sessions`,
    );
  if (sessions.damaged > 0)
    err.line(
      yellow('note: '),
      `the kept text of some sessions is damaged (${sessions.damaged}); see: handover doctor`,
    );
  if (sessions.unread > 0)
    err.line(yellow('note: '), `${tellCount(sessions.unread)} passed over, as they cannot be read now`);
}

/** Reading every file takes long, and nobody should have to guess why. */
export function noteIndexFailure(
  { err }: Pick<Context, 'err'>,
  { indexFailure }: Pick<SearchAnswer, 'indexFailure'>,
): void {
  if (indexFailure === null) return;
  err.line(
    yellow('note: '),
    `the search index cannot be used now (${cleanLine(indexFailure.message)}), every file was read instead; see: handover doctor`,
  );
}

function tellCount(count: number): string {
  return count === 1 ? '1 session was' : `${count} sessions were`;
}
