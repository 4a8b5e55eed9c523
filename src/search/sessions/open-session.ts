import type { FoundSession } from '../../agents/agent.ts';
import { findSessions } from '../../agents/find-session.ts';
import { loadAgent } from '../../agents/table.ts';
import { HandoverError } from '../../errors.ts';
import { cleanLine, cutToBytes } from '../../model/text.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import type { Store } from '../../store/store.ts';
import { listTexts, nameText, readText, type SessionText, unpackParts } from './archive.ts';
import { readSessionText } from './read-text.ts';

export interface OpenedSession extends SessionText {
  /** The agent does not have it any more: this is what was kept of it. */
  gone: boolean;
}

/** The text of the session with this id, or the beginning of one, without secrets. Nothing is written. */
export async function openSession(store: Store, words: string): Promise<OpenedSession> {
  const wanted = words.trim();
  const live = pickById(await findSessions(store.machine), wanted);
  if (live !== null) return { ...(await readLive(store, live)), gone: false };
  const kept = pickById(
    listTexts(store).flatMap((name) => {
      const text = readText(store, name);
      return text === null ? [] : [{ id: text.head.id, agent: text.head.agent }];
    }),
    wanted,
  );
  const text = kept === null ? null : readText(store, nameText(kept));
  if (text !== null) return { ...text, gone: true };
  throw new HandoverError(
    'HANDOVER_NOT_FOUND',
    `there is no session "${cutToBytes(cleanLine(wanted), 80)}"`,
    {
      hint: 'See what there is: handover sessions',
    },
  );
}

function pickById<Session extends { id: string; agent: string }>(
  sessions: readonly Session[],
  wanted: string,
): Session | null {
  const exact = sessions.find(({ id }) => id === wanted);
  if (exact !== undefined) return exact;
  const alike = wanted === '' ? [] : sessions.filter(({ id }) => id.startsWith(wanted));
  const [first = null] = alike;
  if (new Set(alike.map(({ id }) => id)).size < 2) return first;
  throw new HandoverError('HANDOVER_ID_AMBIGUOUS', `${alike.length} sessions begin with "${wanted}"`, {
    hint: `Give more of it: ${alike
      .slice(0, 3)
      .map(({ id }) => id)
      .join(', ')} …`,
    data: { candidates: alike.map(({ id }) => id) },
  });
}

async function readLive({ machine }: Store, session: FoundSession): Promise<SessionText> {
  const { agent: name, id, path, cwd, title, startedMs, changedMs, bytes } = session;
  const head = { agent: name, id, path, cwd, title, project: null, startedMs, changedMs, bytes };
  const { parts } = readSessionText({
    agent: await loadAgent(name),
    session,
    head,
    redactor: openRedactor(machine, { folder: cwd, makesKey: false }),
    archive: null,
    kept: null,
  });
  return { head, passages: parts.flatMap((part) => unpackParts(part)?.passages ?? []) };
}
