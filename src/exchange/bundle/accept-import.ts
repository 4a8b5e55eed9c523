import * as v from 'valibot';
import { sealHandover } from '../../handover/seal.ts';
import type { Fact } from '../../model/fact.ts';
import { type Handover, HandoverDraft, type Imported } from '../../model/handover.ts';
import { cleanLine, cleanText } from '../../model/text.ts';
import { redactDraft } from '../../redact/redact-draft.ts';
import type { Redactor } from '../../redact/redactor.ts';
import { isOutside, mapTexts } from './prepare-export.ts';

export const BUNDLE_FORMAT = 'bundle/1';

/**
 * A handover of somebody else as it is stored: every fact is marked imported and unpinned, none counts as this user's
 * request, no path leads out of the project, links stay within the bundle, whose ids are `inBundle`, and remaining
 * secrets are removed.
 */
export function acceptHandover(
  handover: HandoverDraft,
  { imported, inBundle, redactor }: { imported: Imported; inBundle: ReadonlySet<string>; redactor: Redactor },
): Handover {
  const { chain, previous, session, workspace, project } = handover;
  const { folder } = workspace;
  const remote = project.remote === null ? null : cleanLine(project.remote);
  const follows = previous !== null && inBundle.has(previous) ? previous : null;
  const facts = handover.facts.flatMap(acceptFact);
  const draft: HandoverDraft = {
    schema: handover.schema,
    id: handover.id,
    created_at: handover.created_at,
    expires_at: handover.expires_at,
    project: { ...project, name: cleanLine(project.name) || 'project', remote },
    session: { ...session, transcript: null, terminal: null, agent: cleanLine(session.agent) || 'unknown' },
    workspace: { ...workspace, root: '.', folder: isOutside(folder) ? '' : folder, worktree: null },
    title: cleanLine(handover.title) || 'untitled',
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

function acceptFact(fact: Fact): Fact[] {
  const { id, kind, status, probe, detail, sources } = fact;
  const text = kind === 'file' ? fact.text.toWellFormed() : cleanText(fact.text).trim();
  if (text === '') return [];
  return [
    {
      id,
      kind,
      text,
      ...(status === undefined ? {} : { status: cleanLine(status) }),
      trust: 'imported',
      origin: 'import',
      sources: sources.map((source) => ({ ...source, session: source.session ?? 'imported' })),
      ...(probe === undefined || isOutside(probe.path) ? {} : { probe }),
      detail: { ...cleanDetail(detail), told: { trust: fact.trust, origin: fact.origin } },
    },
  ];
}

/** Without the marks of what the human said: that is another human. */
function cleanDetail(detail: Fact['detail']): Record<string, unknown> {
  const kept = Object.entries(detail ?? {}).filter(([key]) => key !== 'role' && key !== 'message');
  return v.parse(v.record(v.string(), v.unknown()), mapTexts(Object.fromEntries(kept), cleanText));
}
