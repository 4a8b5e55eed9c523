import * as v from 'valibot';
import {
  HandoverDraft,
  MAX_AGENT_BYTES,
  MAX_SUMMARY_BYTES,
  MAX_TITLE_BYTES,
  type UnstampedDraft,
} from '../model/handover.ts';
import { cleanLine, cutToBytes } from '../model/text.ts';
import type { Redactions, Redactor } from './redactor.ts';

/** To be called before a handover is first written: no record in the store may hold a secret. */
export function redactDraft<Draft extends UnstampedDraft>(draft: Draft, redactor: Redactor): Draft {
  const { title, summary, facts, project, session, workspace, imported } = draft;
  const redact = (): Pick<UnstampedDraft, 'title' | 'summary' | 'facts'> => ({
    // A secret over lines is found only while they are lines.
    title: cutToBytes(cleanLine(redactor.redactText(title)), MAX_TITLE_BYTES),
    summary: cutToBytes(redactor.redactText(summary, { byHuman: true }), MAX_SUMMARY_BYTES),
    facts: facts.map((fact) => redactor.redactFact(fact)),
  });
  // A value learnt from a later text may occur in an earlier one.
  const first = redact();
  const texts = redactor.hasLearnt ? redact() : first;
  const { entries } = HandoverDraft;
  return {
    ...draft,
    ...texts,
    project: putOnOneLine(v.parse(entries.project, redactor.redactValue(project))),
    session: v.parse(entries.session, {
      ...redactor.redactRecord(session),
      agent: cutToBytes(cleanLine(redactor.redactText(session.agent)), MAX_AGENT_BYTES) || 'unknown',
    }),
    workspace: v.parse(entries.workspace, redactor.redactValue(workspace)),
    ...(imported === undefined ? {} : { imported: v.parse(entries.imported.wrapped, redactor.redactValue(imported)) }),
    redactions: addUp(draft.redactions, redactor.redactions),
  };
}

const MAX_PROJECT_BYTES = 100;

function putOnOneLine({ id, name, remote }: UnstampedDraft['project']): UnstampedDraft['project'] {
  const short = cutToBytes(cleanLine(name), MAX_PROJECT_BYTES) || 'project';
  return { id, name: short, remote: remote === null ? null : cleanLine(remote) };
}

/** Keeps the counts of a record that comes from elsewhere. */
function addUp(before: Redactions, now: Redactions): Redactions {
  const counts = new Map(before.map(({ kind, count }) => [kind, count]));
  for (const { kind, count } of now) counts.set(kind, Math.max(count, counts.get(kind) ?? 0));
  return [...counts].map(([kind, count]) => ({ kind, count })).sort((a, b) => (a.kind < b.kind ? -1 : 1));
}
