import type { FactKind, Trust } from '../model/fact.ts';
import { isStopWord } from '../model/text.ts';
import type { ProjectMatch } from '../store/catalog.ts';
import { foldText, gramsOf, isUnspaced, makeStemPicker, matchWords, splitWords, stemWord } from './tokens.ts';

export interface SearchQuery {
  text: string;
  kinds?: readonly FactKind[] | undefined;
  /** Compared without regard to case. */
  agent?: string | undefined;
  /** Only this project. Without it all are searched, and hits of the current project come ahead of others. */
  project?: ProjectMatch | undefined;
  sinceMs?: number | undefined;
  /** Only texts that name this file: a path, or the end of one. */
  file?: string | undefined;
  /** Also search the text of the agents' sessions on this machine. */
  sessions?: boolean;
  /** Only the text of this session, by its id or the beginning of it: every passage that matches. */
  session?: string | undefined;
  limit: number;
}

/** Without an index only the newest sessions are searched, up to one of these limits. */
export const SCAN_LIMITS: { sessions: number; bytes: number } = { sessions: 40, bytes: 256 * 1024 * 1024 };

export interface QueryWord {
  /** Folded. */
  text: string;
  stem: string;
  grams: readonly string[];
  isUnspaced: boolean;
}

/** The words of a query. There is no query syntax. */
export interface ParsedQuery {
  words: readonly QueryWord[];
  /** Several words, or a name with punctuation: texts that contain it verbatim come first. */
  phrase: string | null;
}

/** Enough for a pasted error; the rest of a query is ignored. */
const MAX_CHARACTERS = 2000;
const MAX_WORDS = 24;

export function parseQuery(text: string): ParsedQuery {
  const folded = foldText(text.slice(0, MAX_CHARACTERS));
  const all = [...new Set(splitWords(folded))];
  const telling = all.filter((word) => !isStopWord(word));
  const words = (telling.length > 0 ? telling : all).slice(0, MAX_WORDS).map((word) => ({
    text: word,
    stem: stemWord(word),
    grams: gramsOf(word),
    isUnspaced: isUnspaced(word),
  }));
  const phrase = folded.replace(QUOTES_AROUND, '');
  return { words, phrase: phrase !== words[0]?.text && phrase.length > 2 ? phrase : null };
}

/** With the full stop or question mark at the end. */
const QUOTES_AROUND = /^["'`“”‘’«»\s]+|["'`“”‘’«»\s.!?。]+$/gu;

export type FactState = 'open' | 'resolved' | 'refuted' | 'pinned';

export interface HitOrigin {
  handover?: string;
  agent?: string;
  session?: string;
  project?: { id: string; name: string };
  at: string;
  /** In the transcript. */
  line?: number;
  /** For the text of a session: the speaker, the transcript, and the byte offset of the line in it. */
  speaker?: 'human' | 'agent' | 'tool';
  transcript?: string;
  offset?: number;
  /** The agent has deleted the session: only its archived text is left. */
  gone?: true;
  /** How many handovers contain it, including this one. */
  handovers?: number;
  imported?: true;
}

export interface SearchHit {
  what: 'fact' | 'handover' | 'note' | 'session';
  /** The id of the fact, the handover or the session; for a note its path. */
  id: string;
  /** The fact, the title, or an excerpt around the match. */
  text: string;
  kind?: FactKind;
  /** An agent only said it: nobody settled it. */
  said?: true;
  trust?: Trust;
  /** The fact's own status: `done` for a task, `edited` for a file … */
  status?: string;
  standing?: FactState;
  because?: string;
  from: HitOrigin;
  open: string;
  /** It has none of the words, only similar spelling or meaning. */
  near?: true;
  /** For a session: how many other passages of it match. */
  more?: number;
  score: number;
}

const MAX_EXCERPT = 400;
const BEFORE = 120;

/** A text in one paragraph; if it is long, only the part around most of these terms, the first of which counts most. */
export function excerpt(text: string, terms: readonly string[]): string {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line.length <= MAX_EXCERPT) return line;
  const start = Math.max(0, findDensest(line.toLowerCase(), terms) - BEFORE);
  const end = Math.min(line.length, start + MAX_EXCERPT);
  // Never half a surrogate pair.
  const part = line
    .slice(start, end)
    .replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
    .trim();
  return `${start > 0 ? '…' : ''}${part}${end < line.length ? '…' : ''}`;
}

const MAX_TRIED = 50;

/** Where the most of some terms follow within an excerpt. */
function findDensest(folded: string, terms: readonly string[]): number {
  let best = { at: 0, worth: 0 };
  for (const term of terms)
    for (let at = folded.indexOf(term), tried = 0; at >= 0 && tried < MAX_TRIED; at = folded.indexOf(term, at + 1)) {
      tried++;
      const part = folded.slice(at, at + MAX_EXCERPT - BEFORE);
      const worth = terms.reduce((sum, each, place) => sum + (part.includes(each) ? 1 + 1 / (place + 1) : 0), 0);
      if (worth > best.worth) best = { at, worth };
    }
  return best.at;
}

/** Where the words of a query are in a text, in any inflection. */
export function findMatches(text: string, query: string): { start: number; end: number }[] {
  const { words } = parseQuery(query);
  const { pick } = makeStemPicker(new Set(words.map(({ stem }) => stem)));
  const parts = words.filter(({ text: word, isUnspaced: runs }) => runs || word.length > 3);
  const matches: { start: number; end: number }[] = [];
  for (const match of matchWords(text)) {
    const [word] = match;
    const folded = word.toLowerCase();
    if (pick(folded) !== null) {
      matches.push({ start: match.index, end: match.index + word.length });
      continue;
    }
    const part = parts.find((each) => folded.includes(each.text))?.text;
    if (part === undefined) continue;
    const start = match.index + folded.indexOf(part);
    matches.push({ start, end: isUnspaced(word) ? start + part.length : match.index + word.length });
  }
  return matches;
}
