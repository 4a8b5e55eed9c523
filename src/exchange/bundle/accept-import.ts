import * as v from 'valibot';
import { STATED_AT } from '../../handover/marks.ts';
import { sealHandover } from '../../handover/seal.ts';
import type { Fact } from '../../model/fact.ts';
import { type Handover, HandoverDraft, type ImportOrigin } from '../../model/handover.ts';
import { mapTexts } from '../../model/json.ts';
import { cleanLine, cleanText, revealControls } from '../../model/text.ts';
import { ELSEWHERE } from '../../model/workspace.ts';
import { redactDraft } from '../../redact/redact-draft.ts';
import type { Redactor } from '../../redact/redactor.ts';
import { isOfProject, isOutside } from './prepare-export.ts';

export const BUNDLE_FORMAT = 'bundle/1';

/**
 * A handover of somebody else as it is stored: every fact is marked imported and unpinned, none counts as this user's
 * request, no path leads out of the project, links stay within the bundle, whose ids are `inBundle`, and remaining
 * secrets are removed.
 */
export function acceptHandover(
  handover: HandoverDraft,
  { imported, inBundle, redactor }: { imported: ImportOrigin; inBundle: ReadonlySet<string>; redactor: Redactor },
): Handover {
  const { chain, previous, session, workspace, project } = handover;
  const folder = isOutside(workspace.folder) ? '' : revealControls(workspace.folder);
  const remote = project.remote === null ? null : cleanText(project.remote);
  const follows = previous !== null && inBundle.has(previous) ? previous : null;
  const facts = handover.facts.flatMap((fact) => acceptFact(fact, { by: imported.signer?.name ?? null, redactor }));
  const draft: HandoverDraft = {
    schema: handover.schema,
    id: handover.id,
    created_at: handover.created_at,
    ...(handover.noted_at === undefined ? {} : { noted_at: handover.noted_at }),
    expires_at: handover.expires_at,
    project: { ...project, name: cleanText(project.name), remote },
    session: { ...session, transcript: null, terminal: null, agent: cleanText(session.agent) },
    workspace: { ...workspace, root: ELSEWHERE, folder, worktree: null },
    title: cleanText(handover.title).trim() || 'untitled',
    summary: cleanText(handover.summary),
    facts: [...new Map(facts.map((fact) => [fact.id, fact])).values()],
    previous: follows,
    ...(chain === undefined || follows === null ? {} : { chain }),
    quality: null,
    redactions: handover.redactions,
    imported,
  };
  return sealHandover(v.parse(HandoverDraft, redactDraft(draft, redactor)));
}

function acceptFact(fact: Fact, { by, redactor }: { by: string | null; redactor: Redactor }): Fact[] {
  const { id, kind, status, probe, detail, sources } = fact;
  const text = kind === 'file' ? revealControls(fact.text) : cleanText(fact.text).trim();
  if (text === '') return [];
  return [
    {
      id,
      kind,
      text,
      ...(status === undefined ? {} : { status: cleanLine(redactor.redactText(cleanText(status))) }),
      trust: 'imported',
      origin: 'import',
      sources: sources.map((source) => ({ ...source, session: source.session ?? 'imported' })),
      ...(probe !== undefined && isOfProject(probe) ? { probe } : {}),
      detail: { ...cleanDetail(detail), told: { trust: fact.trust, origin: fact.origin, by } },
    },
  ];
}

const OF_SENDER: ReadonlySet<string> = new Set(['role', 'message', 'now', STATED_AT]);

/** Without the marks of what the human said: that is another human. */
function cleanDetail(detail: Fact['detail']): Record<string, unknown> {
  const kept = Object.entries(detail ?? {}).filter(([key]) => !OF_SENDER.has(key));
  return v.parse(v.record(v.string(), v.unknown()), mapTexts(Object.fromEntries(kept), cleanText));
}
