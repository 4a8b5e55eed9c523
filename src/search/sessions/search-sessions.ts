import { formatTimestamp } from '../../model/time.ts';
import { abbreviateHome } from '../../platform/paths.ts';
import type { Store } from '../../store/store.ts';
import { excerpt } from '../excerpt.ts';
import type { SearchHit } from '../hit.ts';
import type { ParsedQuery } from '../parsed-query.ts';
import { fuseTexts } from '../rank.ts';
import { nameText } from './archive.ts';
import {
  type FoundPassage,
  type GatheredPassages,
  gatherPassages,
  type SessionsQuery,
} from './session-finder.ts';

/** How the text of sessions was searched, and how far it is known. */
export type SessionsOutcome = Omit<GatheredPassages, 'passages' | 'known'>;

export interface SessionHits extends SessionsOutcome {
  hits: SearchHit[];
}

/** What of one session is shown at most: the rest is found by opening it. */
const MOST_OF_A_SESSION = 3;

/** Finds what was said in the sessions that agents keep on this machine, or kept until they deleted them; best first. */
export async function searchSessions(
  store: Store,
  asked: SessionsQuery & { here: string | null },
): Promise<SessionHits> {
  const { passages, known, ...outcome } = await gatherPassages(store, asked);
  const { parsed, here } = asked;
  const texts = passages.map((found) => ({ key: found, text: found.passage.text }));
  const fused = fuseTexts(
    { parsed, known },
    texts,
    here === null ? {} : { isHere: ({ head }) => head.project?.id === here },
  );
  const shown = new Map<string, number>();
  const hits = fused.flatMap(({ key, score }) => {
    const name = nameText(key.head);
    const count = shown.get(name) ?? 0;
    shown.set(name, count + 1);
    return count < MOST_OF_A_SESSION ? [describeHit(store, key, { score, parsed })] : [];
  });
  return { hits, ...outcome };
}

function describeHit(
  { machine }: Store,
  { passage, head, gone }: FoundPassage,
  { score, parsed }: { score: number; parsed: ParsedQuery },
): SearchHit {
  const { id, agent, project, path, changedMs } = head;
  const { line, offset, at, speaker, text } = passage;
  return {
    what: 'session',
    id,
    text: excerpt(text, parsed),
    from: {
      agent,
      session: id,
      ...(project === null ? {} : { project }),
      at: formatTimestamp(at ?? changedMs),
      line,
      speaker,
      transcript: abbreviateHome(path, machine),
      ...(offset === null ? {} : { offset }),
      ...(gone ? { gone: true as const } : {}),
    },
    open: `handover sessions ${id} --line ${line}`,
    score,
  };
}
