import type { FactKind, Trust } from '../model/fact.ts';
import { isStopWord } from '../model/text.ts';
import type { ProjectMatch } from '../store/catalog.ts';
import { foldText, gramsOf, isUnspaced, splitWords, stemWord } from './tokens.ts';

export interface QueryWord {
  /** Folded. */
  text: string;
  stem: string;
  grams: readonly string[];
  isUnspaced: boolean;
}

/** What a person typed, taken apart. No sign in it has a meaning of its own. */
export interface ParsedQuery {
  folded: string;
  words: readonly QueryWord[];
  /** Where several words, or a name with signs in it, are asked for: what has them as they stand comes first. */
  phrase: string | null;
}

/** A query is what a person types or an error that was pasted; what is beyond is not looked at. */
const MAX_CHARACTERS = 2000;
const MAX_WORDS = 24;

export function parseQuery(text: string): ParsedQuery {
  const folded = foldText(text.slice(0, MAX_CHARACTERS));
  const all = [...new Set(splitWords(folded))];
  const telling = all.filter((word) => !isStopWord(word));
  const words = (telling.length > 0 ? telling : all).slice(0, MAX_WORDS).map(describeWord);
  const phrase = trimSigns(folded);
  return { folded, words, phrase: phrase !== words[0]?.text && phrase.length > 2 ? phrase : null };
}

function describeWord(text: string): QueryWord {
  return { text, stem: stemWord(text), grams: gramsOf(text), isUnspaced: isUnspaced(text) };
}

/** Quotes around a query, and the point at its end, are not part of what is looked for. */
function trimSigns(folded: string): string {
  return folded.replace(/^["'`“”‘’«»\s]+|["'`“”‘’«»\s.!?。]+$/gu, '');
}

export type Standing = 'open' | 'resolved' | 'refuted' | 'pinned';

/** Where a hit comes from. */
export interface HitOrigin {
  handover?: string;
  agent?: string;
  session?: string;
  project?: { id: string; name: string };
  at: string;
  /** In the transcript. */
  line?: number;
  /** Of the text of a session: who said it, where the transcript is, and where in it the line begins, in bytes. */
  speaker?: 'human' | 'agent' | 'tool';
  transcript?: string;
  offset?: number;
  /** The agent does not have the session any more: only its text is kept. */
  gone?: true;
  /** How many handovers hold it, this one included. */
  handovers?: number;
  /** It came in a bundle from elsewhere. */
  imported?: true;
}

/** One thing that was found. */
export interface SearchHit {
  what: 'fact' | 'handover' | 'note' | 'session';
  /** The id of the fact, the handover or the session; of a note, its path. */
  id: string;
  /** The fact itself, the title, or the part of the text around what was found. */
  text: string;
  kind?: FactKind;
  trust?: Trust;
  /** As the fact has it: of a task `done`, of a file `edited` … */
  status?: string;
  standing?: Standing;
  /** Why it was refuted or resolved. */
  because?: string;
  from: HitOrigin;
  /** The command that opens it. */
  open: string;
  score: number;
}

const MOST_CHARACTERS = 400;
const BEFORE = 120;

/** The text in one paragraph; of a long one, the part around what was looked for. */
export function excerpt(text: string, { words }: ParsedQuery): string {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line.length <= MOST_CHARACTERS) return line;
  const folded = line.toLowerCase();
  const met = words.map((word) => folded.indexOf(word.text)).filter((at) => at >= 0);
  const start = met.length === 0 ? 0 : Math.max(0, Math.min(...met) - BEFORE);
  const end = Math.min(line.length, start + MOST_CHARACTERS);
  return `${start > 0 ? '…' : ''}${cutWell(line, start, end)}${end < line.length ? '…' : ''}`;
}

/** Never half a character. */
function cutWell(text: string, start: number, end: number): string {
  return text
    .slice(start, end)
    .replace(/^[\udc00-\udfff]/, '')
    .replace(/[\ud800-\udbff]$/, '')
    .trim();
}

export interface Match {
  start: number;
  end: number;
}

/** The words of a text that a query asked for, in any form of theirs. */
export function findMatches(text: string, query: string): Match[] {
  const { words } = parseQuery(query);
  const stems = new Set(words.map(({ stem }) => stem));
  const parts = words.filter(({ text: word, isUnspaced: runs }) => runs || word.length > 3);
  const matches: Match[] = [];
  for (const match of text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    const [word] = match;
    const folded = word.toLowerCase();
    const part = parts.find((each) => folded.includes(each.text));
    const isWhole = stems.has(stemWord(folded));
    if (!isWhole && part === undefined) continue;
    const at = !isWhole && part !== undefined ? folded.indexOf(part.text) : 0;
    const length = !isWhole && part !== undefined && isUnspaced(word) ? part.text.length : word.length - at;
    matches.push({ start: match.index + at, end: match.index + at + length });
  }
  return matches;
}

/** Without an index, so many of the newest sessions are looked at, or so many bytes of transcripts. */
export const SCAN_LIMITS: { sessions: number; bytes: number } = { sessions: 40, bytes: 256 * 1024 * 1024 };

/** What is asked for, and where. */
export interface SearchQuery {
  text: string;
  kinds?: readonly FactKind[];
  /** Compared without regard to case. */
  agent?: string;
  /** Only of this project; without it all are searched, with those of the project that is searched from ahead of others. */
  project?: ProjectMatch;
  sinceMs?: number;
  /** Only what names this file: a path, or the end of one. */
  file?: string;
  /** Also the text of the sessions that agents keep on this machine. */
  sessions?: boolean;
  limit: number;
}
