import type { Fact } from '../model/fact.ts';
import { type Handover, isForeign } from '../model/handover.ts';
import { cutToBytes } from '../model/text.ts';
import type { SearchedFact, SearchedHandover } from './searched.ts';

/* Apart from `searched`, because the schema of handovers takes longer to load than a search. */

export function describeHandover(handover: Handover): SearchedHandover {
  const { session, project, workspace } = handover;
  return {
    id: handover.id,
    at: handover.created_at,
    startedAt: session.started_at,
    agent: withoutNul(session.agent),
    session: session.id === null ? null : withoutNul(session.id),
    project: { id: project.id, name: withoutNul(project.name) },
    root: withoutNul(workspace.root),
    folder: withoutNul(workspace.folder),
    isForeign: isForeign(handover),
  };
}

/** SQLite ends a text at its first NUL. */
function withoutNul(text: string): string {
  return text.replaceAll('\u0000', '\ufffd');
}

export function describeFact({ id, kind, text, status, trust, origin, pinned, sources }: Fact): SearchedFact {
  const [source] = sources;
  return {
    id,
    kind,
    text: withoutNul(text),
    status: status ?? null,
    trust,
    origin,
    pinned: pinned === true,
    line: source?.line ?? null,
    from: source?.session ?? null,
    ref: source?.ref ?? null,
  };
}

const MAX_SUMMARY_BYTES = 16 * 1024;

/** The title in the first line, and what was summed up below it. */
export function textOfHandover({ title, summary }: Handover): string {
  const text =
    summary === '' || summary === title ? title : `${title}\n${cutToBytes(summary, MAX_SUMMARY_BYTES)}`;
  return withoutNul(text);
}
