import { basename } from 'node:path';
import * as v from 'valibot';
import { inspectTranscript } from './agents/find-session.ts';
import { type CaptureResult, saveSession } from './app/capture/save-session.ts';
import { saveDeclaration } from './app/save.ts';
import { HandoverError, usageError } from './errors.ts';
import { type Brief, type BriefOptions, compileBrief } from './handover/brief/compile.ts';
import { findReader, READER_NAMES } from './handover/brief/reader.ts';
import { DECLARABLE_KINDS, type DeclarableKind } from './handover/declare.ts';
import { openHandover } from './handover/seal.ts';
import { NO_AGENT } from './model/fact-roles.ts';
import type { Handover } from './model/handover.ts';
import type { Machine } from './platform/machine.ts';
import { type SearchAnswer, search } from './search/search.ts';
import { type CatalogRow, type Filter, listByWork, takeRows } from './store/catalog.ts';
import { requireHandover, resolveId } from './store/find-handover.ts';
import { readMarked } from './store/marks.ts';
import { openCatalog, withCatalogOpener } from './store/open-catalog.ts';
import type { Store } from './store/store.ts';

export type { FoundSession } from './agents/agent.ts';
export { findSessions } from './agents/find-session.ts';
export { HandoverError } from './errors.ts';
export { GitBackend } from './exchange/publish/publish-project.ts';
export { diffHandovers } from './handover/diff.ts';
export { MemoryStore } from './memory/memory-store.ts';
export { Checkpoint } from './memory/runs/checkpoint.ts';
export { HandoverEngine } from './memory/runs/engine.ts';
export type { Event } from './model/event.ts';
export type { Fact, FactKind } from './model/fact.ts';
export { describeMachine } from './platform/machine.ts';
export { examineStore } from './store/doctor/doctor.ts';
export { forgetHandover } from './store/handovers.ts';
export { openStore } from './store/store.ts';
export type { Brief, BriefOptions, CaptureResult, CatalogRow, Filter, Handover, Machine, SearchAnswer, Store };

const Texts = v.optional(v.array(v.string()));
const Text = v.optional(v.string());

/** `HandoverText` from a program, which need not be written in TypeScript. */
const HandoverTextInput = v.object({
  ...v.entriesFromList(DECLARABLE_KINDS, Texts),
  title: Text,
  summary: Text,
  files: Texts,
  pins: Texts,
  agent: Text,
});

export type HandoverText = Partial<Record<DeclarableKind, readonly string[]>> & {
  /** The first line of the summary if left out. */
  title?: string;
  summary?: string;
  /** Paths that matter, relative to the folder. */
  files?: readonly string[];
  /** Notes that every brief of the project contains. */
  pins?: readonly string[];
  /** The agent that worked; `manual` if left out. */
  agent?: string;
};

/** Saves a handover written by hand, on top of the newest work in its folder. Secrets are redacted. Throws when there is nothing to save. */
export async function saveHandover(
  store: Store,
  text: HandoverText,
  folder: string = store.machine.cwd,
): Promise<Handover> {
  const given = parseInput(HandoverTextInput, text, 'what to save');
  const { title, summary = '', files = [], pins = [], agent = NO_AGENT } = given;
  const facts = DECLARABLE_KINDS.flatMap((kind) => (given[kind] ?? []).map((words) => ({ kind, text: words })));
  const place = parseInput(v.string(), folder, 'the folder');
  const context = { machine: store.machine, notify: ignore, progress: ignore };
  const { handover } = await saveDeclaration(context, place, {
    title,
    summary,
    agent,
    by: 'human',
    sessionId: null,
    facts,
    files,
    pins,
    pinAll: false,
  });
  return handover;
}

/** Captures the session in a transcript of any supported agent. A session without news is not saved twice. */
export async function captureTranscript(store: Store, path: string): Promise<CaptureResult> {
  return await saveSession(store, await inspectTranscript(parseInput(v.string(), path, 'the path')));
}

/** Those of the newest work first. Damaged files are left out; `examineStore` reports them. */
export async function listHandovers(
  store: Store,
  { limit = Number.POSITIVE_INFINITY, ...filter }: Filter & { limit?: number } = {},
): Promise<CatalogRow[]> {
  const { catalog } = await openCatalog(store);
  try {
    return await takeRows(listByWork(catalog, filter), limit);
  } finally {
    catalog.close();
  }
}

/** By its id, a unique prefix of one, or `latest`. Throws when there is none, or more than one. */
export async function findHandover(store: Store, words: string): Promise<Handover> {
  const given = parseInput(v.string(), words, 'the id');
  return requireHandover(store, await withCatalogOpener(store, async (open) => await resolveId(store, given, open)));
}

/** Facts and handovers of all projects by any words; those of the current project come first. */
export async function searchFacts(store: Store, text: string, limit = 10): Promise<SearchAnswer> {
  return await search({ store }, { text: parseInput(v.string(), text, 'the query'), limit });
}

/** The brief for an agent (`claude-code`, `codex` …, or `generic`), with the marks that the store has for its facts. */
export function renderBrief(
  store: Store,
  handover: Handover,
  { reader: name = 'generic', ...options }: BriefOptions & { reader?: string } = {},
): Brief {
  const reader = findReader(name);
  if (reader === null) {
    throw usageError(`unknown agent "${name}"`, `Use one of: ${READER_NAMES.join(', ')}.`);
  }
  return compileBrief(readMarked(store, handover), reader, options);
}

/** Checks the bytes of a handover's file and its checksum. Throws with the reason when it is not exactly as sealed. */
export function verifyHandover(bytes: Uint8Array, path: string): Handover {
  return openHandover(bytes, basename(path, '.json'), path);
}

function parseInput<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  what: string,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const where = v.getDotPath(issue);
  const message = `${where === null ? what : `"${where}" of ${what}`} is ${issue.received} instead of ${issue.expected}`;
  throw new HandoverError('HANDOVER_INPUT_INVALID', message, { hint: 'See docs/api.md for what it may be.' });
}

function ignore(): undefined {
  return undefined;
}
