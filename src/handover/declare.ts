import { resolve } from 'node:path';
import { catchIf, HandoverError, isFailure, usageError } from '../errors.ts';
import { computeFactId, type Fact, type FactKind, MAX_FACT_TEXT_BYTES, MAX_FACTS } from '../model/fact.ts';
import {
  HANDOVER_SCHEMA,
  MAX_AGENT_BYTES,
  MAX_SUMMARY_BYTES,
  MAX_TITLE_BYTES,
  type UnstampedDraft,
} from '../model/handover.ts';
import { sha256Hex } from '../model/hash.ts';
import { cleanLine, cleanText, countUtf8Bytes, cutToBytes, findFirstLine, revealControls } from '../model/text.ts';
import { readRegularFile } from '../platform/durable-file.ts';
import type { Machine } from '../platform/machine.ts';
import { abbreviateHome } from '../platform/paths.ts';
import { type Place, toRelativePath } from '../platform/project.ts';

export const DECLARABLE_KINDS = [
  'goal',
  'next',
  'decision',
  'constraint',
  'rejected',
  'blocker',
  'question',
  'note',
] as const;
export type DeclarableKind = (typeof DECLARABLE_KINDS)[number];

/** What a human or an agent states on purpose for the next session. Texts are as they were typed. */
export interface Declaration {
  title: string | undefined;
  summary: string;
  agent: string;
  /** Who states it. An agent's words are never shown as the user's. */
  by: 'human' | 'agent';
  sessionId: string | null;
  facts: { kind: DeclarableKind; text: string }[];
  /** Paths as typed, from the current folder. */
  files: string[];
  /** Notes that are in every brief until they are resolved. */
  pins: string[];
  pinAll: boolean;
}

/** Everything of a handover but its id and time. Throws a coded error that names the part that cannot be saved. */
export function declareHandover(declaration: Declaration, place: Place, machine: Machine): UnstampedDraft {
  const summary = limitBytes(cleanText(declaration.summary).trim(), MAX_SUMMARY_BYTES, 'the summary');
  const said = [summary, ...declaration.facts.map((fact) => fact.text), ...declaration.pins];
  const title = declaration.title === undefined ? deriveTitle(said) : cleanText(declaration.title).trim();
  if (title === '')
    throw usageError(
      'a handover needs a title or a summary',
      'Pass --title TEXT, or a --summary whose first line can serve as the title.',
    );
  const id = declaration.sessionId;
  const agent = limitBytes(cleanLine(declaration.agent), MAX_AGENT_BYTES, 'the name of the agent');
  if (agent === '') throw usageError('the name of the agent is empty', 'Pass --agent NAME.');
  return {
    schema: HANDOVER_SCHEMA,
    expires_at: null,
    project: place.project,
    session: { agent, id, terminal: null, model: null, transcript: null, started_at: null },
    workspace: place.workspace,
    title: limitBytes(title, MAX_TITLE_BYTES, 'the title'),
    summary,
    facts: collectFacts(declaration, place, machine),
    previous: null,
    quality: null,
    redactions: [],
  };
}

const MAX_DERIVED_TITLE_BYTES = 100;

/** The first line of the first text that has one. It holds half of a secret that goes on in the next line: derive it anew once secrets are out. */
export function deriveTitle(said: readonly string[]): string {
  const first = said.map((text) => cleanText(text).trim()).find((text) => text !== '') ?? '';
  return cutToBytes(findFirstLine(first), MAX_DERIVED_TITLE_BYTES);
}

function collectFacts(declaration: Declaration, place: Place, machine: Machine): Fact[] {
  const { by, pinAll } = declaration;
  const facts = [
    ...declaration.facts.map(({ kind, text }) => makeFact(kind, text, { by, pinned: pinAll })),
    ...declaration.pins.map((text) => makeFact('note', text, { by, pinned: true })),
    ...declaration.files.map((path) => makeFileFact(path, place, machine, { by, pinned: pinAll })),
  ];
  const unique = [...new Map(facts.map((fact) => [fact.id, fact])).values()];
  if (unique.length <= MAX_FACTS) return unique;
  const message = `${unique.length} facts are more than the ${MAX_FACTS} a handover holds`;
  throw new HandoverError('HANDOVER_TEXT_TOO_LARGE', message);
}

type FactMarks = { by: 'human' | 'agent'; pinned: boolean };

export function makeFact(kind: FactKind, text: string, marks: FactMarks): Fact {
  const cleaned = limitBytes(cleanText(text).trim(), MAX_FACT_TEXT_BYTES, `a ${kind}`);
  if (cleaned === '') throw usageError(`a ${kind} is empty`, `Pass some text with --${kind}.`);
  return toFact(kind, cleaned, marks);
}

function toFact(kind: FactKind, text: string, { by, pinned }: FactMarks): Fact {
  const id = computeFactId(kind, text);
  return { id, kind, text, trust: 'declared', origin: by, sources: [], ...(pinned ? { pinned: true } : {}) };
}

/** With the digest of the content, to detect a change later; null for anything but a readable file within the limit. */
function makeFileFact(path: string, place: Place, machine: Machine, marks: FactMarks): Fact {
  // As a path it would lose what shows a password in it.
  if (ADDRESS.test(path))
    throw usageError('what --file names is an address, not a file', 'Save it as a note: --note TEXT');
  const absolute = resolve(machine.cwd, path);
  const inside = toRelativePath(place.root, absolute);
  const isOutside = inside === '..' || inside.startsWith('../');
  const shown = isOutside ? abbreviateHome(absolute, machine) : inside;
  const text = limitBytes(revealControls(shown), MAX_FACT_TEXT_BYTES, 'a file path');
  if (text === '') throw usageError('a file path is empty', 'Pass --file PATH.');
  const sha256 = catchIf(isUnreadable, null, () => sha256Hex(readRegularFile(absolute, MAX_PROBED_BYTES)));
  return { ...toFact('file', text, marks), probe: { path: text, sha256 } };
}

const ADDRESS = /^[a-z][a-z\d+.-]+:\/\//i;
const MAX_PROBED_BYTES = 32 * 1024 * 1024;

/** Node refuses a path with a NUL before it asks the system. */
function isUnreadable(error: unknown): boolean {
  if (isFailure(error)) return true;
  return error instanceof TypeError && 'code' in error && error.code === 'ERR_INVALID_ARG_VALUE';
}

/** Returns the text; throws HANDOVER_TEXT_TOO_LARGE, naming it by `what`, when it is too long. */
export function limitBytes(text: string, maxBytes: number, what: string): string {
  const bytes = countUtf8Bytes(text);
  if (bytes <= maxBytes) return text;
  const message = `${what} has ${bytes} bytes; at most ${maxBytes} can be saved`;
  const hint = 'Shorten it; a long text can go into a file, which --file of `handover save` names.';
  throw new HandoverError('HANDOVER_TEXT_TOO_LARGE', message, { hint });
}
