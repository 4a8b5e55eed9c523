import { type Action, type Event, listActionTexts } from '../../model/event.ts';
import type { Fact } from '../../model/fact.ts';
import { isProgressNote } from '../../model/fact-roles.ts';
import { splitAtPlaceholders } from '../../redact/redactor.ts';

const MIN_WORDS = 5;
const MIN_SHARED_WORDS = 0.75;

/**
 * Facts are cleaned, cut and joined with what led to them, so letters and digits are compared, piece by piece. What was
 * not quoted may also lack its middle, as a command its here-document or folder: then all of its words have to stand in
 * one simple command in their order, or most of many words anywhere.
 */
export function eventStatesFact(event: Event, fact: Fact): boolean {
  // It sums up many events; its source names only one of them.
  if (isProgressNote(fact)) return true;
  const role = fact.detail?.role;
  const said = [...listTexts(event), ...(role === 'document' ? listWritten(event) : [])].join('\n');
  const letters = normaliseLetters(said);
  const commit = fact.detail?.about === 'commit' ? COMMIT.exec(fact.text)?.[1] : undefined;
  if (commit !== undefined && said.includes(commit)) return true;
  if (letters.includes(normaliseLetters(fact.text))) return true;
  const pieces = splitAtPlaceholders(fact.text)
    .filter((_, index) => index % 2 === 0)
    .flatMap((text) => text.split(PIECES))
    .map(normaliseLetters);
  if (pieces.length > 1 && pieces.every((piece) => letters.includes(piece))) return true;
  if (JOINED.has(role)) return pieces.some((piece) => piece !== '' && letters.includes(piece));
  if (fact.trust === 'quoted') return false;
  if (said.split(COMMAND_END).some((part) => appearInOrder(listWords(fact.text), listWords(part)))) return true;
  const words = new Set(listWords(fact.text));
  if (words.size < MIN_WORDS) return false;
  const known = new Set(listWords(said));
  return [...words].filter((word) => known.has(word)).length >= words.size * MIN_SHARED_WORDS;
}

/** The hash says it all: the words around it are ours. */
const COMMIT = /^commit ([0-9a-f]{7,64})\b/;
const COMMAND_END = /[;&|\n]+/;

function appearInOrder(words: readonly string[], among: readonly string[]): boolean {
  let met = 0;
  for (const word of among) if (word === words[met]) met++;
  return words.length > 0 && met === words.length;
}

const PIECES = /:\s+|\n|…| → |" = /;
/** Facts that are put together from several events: a question and its answer, words that follow each other. */
const JOINED: ReadonlySet<unknown> = new Set(['closing', 'stopped', 'answer', 'choice', 'plan', 'document']);

/** Only the letters and digits of a text. */
export function normaliseLetters(text: string): string {
  return fold(text).replace(/[^\p{L}\p{N}]+/gu, '');
}

function listWords(text: string): string[] {
  return fold(text).match(/[\p{L}\p{N}_]{2,}/gu) ?? [];
}

const fold = (text: string): string => text.normalize('NFC').toLowerCase();

function listTexts(event: Event): string[] {
  switch (event.type) {
    case 'prompt':
    case 'reply':
    case 'thought':
    case 'injected':
    case 'limit':
      return [event.text];
    case 'call':
      return [event.tool, ...listFolder(event.action), ...listActionTexts(event.action)];
    case 'result':
      return [event.output];
    case 'plan':
      return event.items.flatMap((item) => [item.text, item.detail ?? '']);
    case 'compaction':
      return [event.summary ?? ''];
    case 'interrupted':
      return [];
  }
}

/** The folder that a command ran in, as a fact names it before the command. */
function listFolder(action: Action): string[] {
  return action.kind === 'command' && action.folder !== undefined ? [`cd ${action.folder} &&`] : [];
}

function listWritten(event: Event): string[] {
  if (event.type !== 'call' || event.action.kind !== 'edit') return [];
  return event.action.edits.map(({ after }) => after);
}
