import { listByLastEvent } from '../../agents/find-session.ts';
import { cleanLine, cutAtWord } from '../../model/text.ts';
import { formatTimestamp } from '../../model/time.ts';
import { excerpt, parseQuery, type SearchQuery } from '../../search/query.ts';
import type { SessionHead } from '../../search/sessions/archive.ts';
import type { Passage, Speaker } from '../../search/sessions/passage.ts';
import type { FoundPassage, StandingIndex } from '../../search/sessions/search-sessions.ts';
import { foldText, splitWords, stemWord } from '../../search/tokens.ts';
import { withAliases } from '../../store/catalog.ts';
import { nameSession, skipForgotten } from '../../store/journal.ts';
import { withCatalogOpener } from '../../store/open-catalog.ts';
import type { Store } from '../../store/store.ts';
import type { Notice } from '../notices.ts';

/** A session that was never captured, or one whose handovers lack the answer, and its passages that answer a question. */
export interface UncapturedSession {
  agent: string;
  session: string;
  project: { id: string; name: string } | null;
  at: string;
  title: string | null;
  /** The best first. */
  passages: { line: number; speaker: Speaker; at: string; text: string; open: string }[];
  /** How many other passages match. */
  more: number;
  open: string;
}

/** `behind`: some sessions that were never captured are not in the index; `missing`: nor is there one. */
export type SessionIndexState = 'current' | 'behind' | 'missing';

export interface UncapturedAnswer {
  sessions: UncapturedSession[];
  /** Captured ones, by their text. */
  texts: UncapturedSession[];
  hasMore: boolean;
  index: SessionIndexState;
}

/** What of a passage answers the question; null when it does not. The higher `worth`, the better. */
export type QuotePassage = (passage: Passage, isCaptured?: boolean) => { text: string; worth: number } | null;

export interface UncapturedQuestion {
  scope: Pick<SearchQuery, 'agent' | 'project' | 'sinceMs'>;
  /** To look for; null for the sessions themselves, the newest first. */
  texts: readonly string[] | null;
  quote?: QuotePassage | undefined;
  /** Of a captured session, whether its handovers have the answer; all of them, if left out. */
  isAnswered?: ((session: SessionName) => boolean) | undefined;
  /** How many sessions at most; null for all. */
  limit: number | null;
}

/** Passages with more than half of the words. */
export function askWords(text: string): Pick<UncapturedQuestion, 'texts' | 'quote'> {
  const { words } = parseQuery(text);
  return {
    texts: [text],
    quote: (passage) => {
      const folded = foldText(passage.text);
      const stems = new Set(splitWords(folded).map(stemWord));
      const found = words.filter((word) => folded.includes(word.text) || stems.has(word.stem));
      if (2 * found.length <= words.length) return null;
      return {
        text: excerpt(
          passage.text,
          found.map((word) => word.text),
        ),
        worth: 0,
      };
    },
  };
}

/**
 * The sessions that were never captured and answer a question, from the index of sessions as it stands: it is neither
 * built nor brought up to date for it.
 */
export async function askUncaptured(store: Store, question: UncapturedQuestion): Promise<UncapturedAnswer> {
  const { withStandingIndex } = await import('../../search/sessions/search-sessions.ts');
  return await withCatalogOpener(store, async (open) => {
    const isCaptured = async (sessions: readonly SessionName[]): Promise<(session: SessionName) => boolean> => {
      const captured = sessions.length === 0 ? [] : await (await open()).captured(sessions.map(({ id }) => id));
      const names = new Set(captured.map(({ agent, session }) => nameSession({ agent, id: session ?? '' })));
      return (session) => names.has(nameSession(session));
    };
    const answer = await withStandingIndex(store, (index) => askIndex(store, index, { ...question, isCaptured }));
    const unread = await hasUnread(store, answer?.known ?? [], isCaptured);
    const state = answer === null ? 'missing' : 'behind';
    const { sessions = [], texts = [], hasMore = false } = answer ?? {};
    return { sessions, texts, hasMore, index: unread ? state : 'current' };
  });
}

export type SessionName = { agent: string; id: string };
type CaptureTest = (sessions: readonly SessionName[]) => Promise<(session: SessionName) => boolean>;

async function askIndex(
  store: Store,
  { all, endOf, find }: StandingIndex,
  { scope, texts, quote, isAnswered, limit, isCaptured }: UncapturedQuestion & { isCaptured: CaptureTest },
) {
  const { pickWanted } = await import('../../search/sessions/search-sessions.ts');
  const inScope = pickWanted(store, withAliases(store, { ...scope, text: '', limit: 0 }), all);
  const captured = await isCaptured(inScope.map(({ head }) => head));
  const wanted = inScope.filter(({ head }) => !captured(head));
  const unanswered = inScope.filter(({ head }) => captured(head) && isAnswered?.(head) === false);
  const groups = new Map<string, FoundSession>();
  const ofCaptured = new Map<string, FoundSession>();
  if (texts === null)
    for (const { name, head } of wanted
      .map((session) => ({ ...session, head: { ...session.head, changedMs: endOf(session) } }))
      .filter(({ head }) => head.changedMs >= (scope.sinceMs ?? 0))
      .sort((a, b) => b.head.changedMs - a.head.changedMs))
      groups.set(name, { head, quotes: [] });
  for (const text of texts ?? []) {
    for (const found of find(text, wanted).slice(0, MAX_QUOTED)) addQuote(groups, found, quote);
    if (unanswered.length === 0) continue;
    for (const found of find(text, unanswered).slice(0, MAX_QUOTED))
      addQuote(ofCaptured, found, (passage) => quote?.(passage, true) ?? null);
  }
  const rank = (found: ReadonlyMap<string, FoundSession>): FoundSession[] => {
    const kept = new Set(
      skipForgotten(
        store,
        Array.from(found.values(), ({ head }) => head),
      ),
    );
    const left = [...found.values()].filter(({ head }) => kept.has(head));
    return texts === null ? left : left.sort((a, b) => worthOf(b) - worthOf(a));
  };
  const [sessions, captures] = [rank(groups), rank(ofCaptured)];
  const most = limit ?? Math.max(sessions.length, captures.length);
  return {
    known: all.map(({ head }) => head),
    sessions: sessions.slice(0, most).map(describeSession),
    texts: captures.slice(0, most).map(describeSession),
    hasMore: Math.max(sessions.length, captures.length) > most,
  };
}

/** How many of the best passages are examined. */
const MAX_QUOTED = 60;

type Quote = { passage: Passage; text: string; worth: number };
type FoundSession = { head: SessionHead; quotes: Quote[] };

function addQuote(
  groups: Map<string, FoundSession>,
  { name, head, passage }: FoundPassage,
  quote?: QuotePassage,
): void {
  const quoted = quote?.(passage) ?? null;
  if (quoted === null) return;
  const group = groups.get(name) ?? { head, quotes: [] };
  groups.set(name, group);
  const isKnown = group.quotes.some((known) => known.passage.line === passage.line && known.text === quoted.text);
  if (!isKnown) group.quotes.push({ passage, ...quoted });
}

function worthOf({ quotes }: FoundSession): number {
  return Math.max(...quotes.map(({ worth }) => worth));
}

const MAX_PASSAGES = 3;
const MAX_TEXT_BYTES = 400;

function describeSession({ head, quotes }: FoundSession): UncapturedSession {
  const { agent, id, project, title } = head;
  const [{ lastMs } = { lastMs: head.changedMs }] = listByLastEvent([head]);
  const open = `handover sessions ${id}`;
  const passages = quotes
    .sort((a, b) => b.worth - a.worth)
    .slice(0, MAX_PASSAGES)
    .map(({ passage: { line, speaker, at }, text }) => ({
      line,
      speaker,
      at: formatTimestamp(at ?? lastMs),
      text: cutAtWord(cleanLine(text), MAX_TEXT_BYTES),
      open: `${open} --line ${line}`,
    }));
  const more = quotes.length - passages.length;
  return { agent, session: id, project, at: formatTimestamp(lastMs), title, passages, more, open };
}

const MAX_LOOKED_AT = 500;
const BATCH = 50;

/** Whether the index lacks a session that was never captured, or its newest part. Checks a limited number of sessions. */
async function hasUnread(store: Store, known: readonly SessionHead[], isCaptured: CaptureTest): Promise<boolean> {
  if (store.machine.env.HANDOVER_SQLITE === 'none') return false;
  const { findUnread } = await import('../../search/sessions/sync.ts');
  let [batch, looked]: [SessionName[], number] = [[], 0];
  const isAnyLeft = async (): Promise<boolean> => {
    const captured = await isCaptured(batch);
    return batch.some((session) => !captured(session));
  };
  for (const session of findUnread(store, known)) {
    batch.push(session);
    if (batch.length === BATCH) {
      if (await isAnyLeft()) return true;
      batch = [];
    }
    if (++looked === MAX_LOOKED_AT) break;
  }
  return await isAnyLeft();
}

/** What a question could not look at. */
export function listIndexStateNotices(index: SessionIndexState): Notice[] {
  if (index === 'current') return [];
  const text = 'some sessions that were never captured were not asked; to read them: handover search --sessions';
  return [{ level: 'note', text }];
}
