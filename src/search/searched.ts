import type { FactKind, Origin, Trust } from '../model/fact.ts';
import { FACT_KINDS } from '../model/fact-kinds.ts';
import { printFingerprint } from '../model/hash.ts';
import { baseName } from '../model/paths.ts';
import { makeTag } from './full-text.ts';

/** What a hit tells of the handover that it is in. */
export interface SearchedHandover {
  id: string;
  at: string;
  startedAt: string | null;
  agent: string;
  session: string | null;
  project: { id: string; name: string };
  root: string;
  /** The folder worked in, from the root. */
  folder: string;
  isForeign: boolean;
}

/** A fact without what only its handover's file tells. */
export interface SearchedFact {
  id: string;
  kind: FactKind;
  text: string;
  status: string | null;
  trust: Trust;
  origin: Origin;
  pinned: boolean;
  /** Of the first source: the line, the session that it was taken over from, and the reference. */
  line: number | null;
  from: string | null;
  ref: string | null;
}

/** One text that can be found: a fact, a handover by its title and summary, or a piece of a note. */
export type Searched =
  | { what: 'fact'; text: string; handover: SearchedHandover; fact: SearchedFact }
  | { what: 'handover'; text: string; handover: SearchedHandover }
  | { what: 'note'; text: string; path: string; line: number; at: string };

/** By which the texts of a handover are picked out, whatever they say. */
export function tagsOf(handover: SearchedHandover, fact: SearchedFact | null): string[] {
  const tags = [tagOfProject(handover.project.id), tagOfAgent(handover.agent)];
  return fact === null ? tags : [...tags, ...tagsOfFact(fact)];
}

/** Those that are a fact's own. */
export function tagsOfFact({ kind, text }: SearchedFact): string[] {
  return kind === 'file' ? [tagOfKind(kind), tagOfFileName(baseName(text))] : [tagOfKind(kind)];
}

export function tagOfProject(id: string): string {
  return makeTag('p', id);
}

export function tagOfAgent(agent: string): string {
  return makeTag('a', agent.toLowerCase());
}

export function tagOfKind(kind: FactKind): string {
  return KIND_TAGS.get(kind) ?? '';
}

const KIND_TAGS: ReadonlyMap<FactKind, string> = new Map(
  FACT_KINDS.map((kind, at) => [kind, makeTag('k', String(at))]),
);

/** Of the last part of a path. */
export function tagOfFileName(name: string): string {
  return makeTag('n', printFingerprint(name.toLowerCase()));
}
