import type { Fact } from '../../model/fact.ts';
import type { Handover } from '../../model/handover.ts';
import type { Claim } from '../../model/workspace.ts';
import { RAN_ON } from '../marks.ts';

/** The handover, with each fact that no longer holds annotated, for the brief to mark it. */
export function noteClaims(handover: Handover, claims: readonly Claim[]): Handover {
  const notes = new Map<string, string[]>();
  for (const { fact, now } of claims)
    if (fact !== null && now !== null) notes.set(fact, [...(notes.get(fact) ?? []), now]);
  // Where checks were run again by hand, the state of the session tells of those.
  const again = handover.facts.filter(({ detail }) => detail?.[RAN_ON] !== undefined).map(({ id }) => id);
  const ofState = claims.filter(
    ({ about, fact }) => about !== 'check' || again.length === 0 || again.includes(fact ?? ''),
  );
  const facts = handover.facts.map((fact) => {
    const now = fact.detail?.role === 'state' ? noteState(fact, ofState) : notes.get(fact.id)?.join(', ');
    return now === undefined ? fact : { ...fact, detail: { ...fact.detail, now } };
  });
  return { ...handover, facts };
}

/** For each line of the state of the session, what has changed. */
function noteState({ detail }: Fact, claims: readonly Claim[]): (string | null)[] | undefined {
  const about = Array.isArray(detail?.about) ? detail.about : [];
  const find = (kind: Claim['about']): string | null =>
    claims.find((claim) => claim.about === kind && claim.now !== null)?.now ?? null;
  const prefix = (words: string, text: string | null): string | null => (text === null ? null : `${words}${text}`);
  const notes: Record<string, string | null> = {
    end: prefix('now on ', find('branch')),
    commits: noteCommits(claims),
    edits: prefix('now ', find('uncommitted')),
    checks: find('check'),
  };
  const lines = about.map((name) => notes[String(name)] ?? null);
  return lines.some((line) => line !== null) ? lines : undefined;
}

/** Of several commits in a line, those are named that it is about. */
function noteCommits(claims: readonly Claim[]): string | null {
  const commits = claims.filter(({ about }) => about === 'commit');
  const told = commits.filter(({ now }) => now !== null);
  const [first] = told;
  if (first === undefined || told.length === commits.length) return first?.now ?? null;
  const hashes = told.slice(0, MAX_HASHES).map(({ what }) => what.slice(0, what.search(/\W|$/)));
  return `${hashes.join(', ')}${told.length > MAX_HASHES ? ', …' : ''}: ${first.now}`;
}

const MAX_HASHES = 5;

/** What is another now of the state of git that a brief tells in one line, less what it tells of changes above. */
export function noteGit(claims: readonly Claim[]): string | null {
  const told = claims.flatMap(({ about, now }) =>
    now !== null && (about === 'upstream' || about === 'uncommitted') ? [now] : [],
  );
  return told.length === 0 ? null : `now ${told.join('; ')}`;
}
