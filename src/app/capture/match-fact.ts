import type { Action, Event } from '../../model/event.ts';
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
  // Told of many events, of which its place is only one.
  if (isProgressNote(fact)) return true;
  const role = fact.detail?.role;
  const said = [...listTexts(event), ...(role === 'document' ? listWritten(event) : [])].join('\n');
  const letters = normaliseLetters(said);
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

const COMMAND_END = /[;&|\n]+/;

function appearInOrder(words: readonly string[], among: readonly string[]): boolean {
  let met = 0;
  for (const word of among) if (word === words[met]) met++;
  return words.length > 0 && met === words.length;
}

const PIECES = /:\s+|\n|…| → |" = /;
/** Facts that are put together from several events: a question and its answer, words that follow each other. */
const JOINED: ReadonlySet<unknown> = new Set(['closing', 'stopped', 'answer', 'choice', 'plan', 'document']);

/** What is left of a text when only letters and digits count. */
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
    case 'injected':
    case 'limit':
      return [event.text];
    case 'call':
      return [event.tool, ...listActionTexts(event.action)];
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

function listWritten(event: Event): string[] {
  if (event.type !== 'call' || event.action.kind !== 'edit') return [];
  return event.action.edits.map(({ after }) => after);
}

/** The texts by which a call is known: not what an edit took out and put in. */
function listActionTexts(action: Action): string[] {
  switch (action.kind) {
    case 'edit':
      return action.edits.flatMap((edit) => [edit.path, edit.to ?? '']);
    case 'read':
      return [action.path];
    case 'command':
      return [action.command];
    case 'search':
      return [action.pattern, action.path ?? ''];
    case 'fetch':
      return [action.url];
    case 'delegate':
      return [action.task];
    case 'ask':
      return [action.question];
    case 'propose':
      return [action.text];
    case 'other':
      return action.texts;
  }
}
