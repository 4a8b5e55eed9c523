import { basename } from 'node:path';
import * as v from 'valibot';
import { computeFactId, type Fact, type FactKind } from '../../model/fact.ts';
import { HANDOVER_SCHEMA, type HandoverDraft, MAX_AGENT_BYTES } from '../../model/handover.ts';
import { canonicalize, shortHash } from '../../model/hash.ts';
import { formatIdTime, isHandoverId } from '../../model/id.ts';
import { cleanLine, cleanText, cutToBytes, revealControls } from '../../model/text.ts';
import { formatTimestamp } from '../../model/time.ts';
import type { Project } from '../../model/workspace.ts';

const SESSION_HANDOFF_FORMAT = 'session-handoff/1';

export const NonEmpty = v.pipe(
  v.string(),
  v.check((text) => text.trim() !== '', 'is empty'),
);

/** A record of session-handoff, as its store and its bundles hold it. */
export const SessionHandoffRecord = v.object({
  id: NonEmpty,
  created_at: v.pipe(
    v.string(),
    v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, 'is not a UTC time in whole seconds'),
    v.check((text) => !Number.isNaN(Date.parse(text)), 'is not a real date and time'),
  ),
  tool: NonEmpty,
  project: NonEmpty,
  title: NonEmpty,
  summary: NonEmpty,
  next: v.nullish(v.array(v.string()), []),
  changed: v.nullish(v.array(v.string()), []),
});
export type SessionHandoffRecord = v.InferOutput<typeof SessionHandoffRecord>;

/**
 * The record as a handover. An id of ours is kept. Where cleaning or a limit changed a text, the original record is kept
 * in `imported`, without the project's path, which reveals who the user is.
 */
export function readSessionHandoffRecord(record: SessionHandoffRecord, project: Project, root: string): HandoverDraft {
  const createdMs = Date.parse(record.created_at);
  const isOurs = isHandoverId(record.id) && record.id.startsWith(formatIdTime(createdMs));
  // It is put on one line and cut when its secrets are out.
  const agent = record.tool.toWellFormed();
  const imported = { format: SESSION_HANDOFF_FORMAT, id: record.id.toWellFormed() };
  const draft: HandoverDraft = {
    schema: HANDOVER_SCHEMA,
    id: isOurs ? record.id : deriveId(record),
    created_at: formatTimestamp(createdMs),
    expires_at: null,
    project,
    session: { agent, id: null, terminal: null, model: null, transcript: null, started_at: null },
    workspace: { root, folder: '', worktree: null, git: null },
    title: cleanText(record.title).trim() || 'untitled',
    summary: cleanText(record.summary),
    facts: [...readTexts('next', record.next), ...readTexts('file', record.changed)],
    previous: null,
    quality: null,
    redactions: [],
    imported,
  };
  const view = writeSessionHandoffRecord(draft);
  const isShort = agent === cutToBytes(cleanLine(agent), MAX_AGENT_BYTES);
  const isFaithful = isShort && JSON.stringify(view) === JSON.stringify({ ...record, project: view.project });
  if (isFaithful && draft.id === record.id) return draft;
  return { ...draft, imported: { ...imported, detail: { record: makeWellFormed({ ...record, project: root }) } } };
}

/** A handover as session-handoff has it: whole seconds, and only next steps and files. */
export function writeSessionHandoffRecord(handover: HandoverDraft): SessionHandoffRecord {
  const texts = (kind: FactKind): string[] =>
    handover.facts.filter((fact) => fact.kind === kind).map((fact) => fact.text);
  return {
    id: handover.id,
    created_at: `${handover.created_at.slice(0, 19)}Z`,
    tool: handover.session.agent,
    project: handover.workspace.root,
    title: handover.title,
    summary: handover.summary || handover.title,
    next: texts('next'),
    changed: texts('file'),
  };
}

/** Deterministic, so that importing a record twice stores it once. */
export function deriveId(record: SessionHandoffRecord): string {
  return `${formatIdTime(Date.parse(record.created_at))}-${shortHash(canonicalize(makeWellFormed(record)), 4)}`;
}

function readTexts(kind: 'next' | 'file', texts: readonly string[]): Fact[] {
  const facts = new Map<string, Fact>();
  for (const words of texts) {
    const text = kind === 'file' ? revealControls(words) : cleanText(words).trim();
    const id = computeFactId(kind, text);
    if (text !== '') facts.set(id, { id, kind, text, trust: 'imported', origin: 'import', sources: [] });
  }
  return [...facts.values()];
}

/** Without lone surrogates and infinite numbers, which have no canonical form. */
export function makeWellFormed(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(makeWellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key.toWellFormed(), makeWellFormed(member)]));
}

/** A project known only by the path it had, perhaps on another machine. Its name is put on one line when its secrets are out. */
export function nameRecordedProject(path: string): Project {
  const name = basename(path.toWellFormed().replaceAll('\\', '/')) || 'project';
  return { id: `p-${shortHash(`path:${path.toWellFormed()}`, 16)}`, name, remote: null };
}
