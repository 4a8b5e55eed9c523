import { resolve } from 'node:path';
import { findSessions, inspectTranscript, listByLastEvent, pickSession } from '../../../agents/find-session.ts';
import { loadAgent } from '../../../agents/table.ts';
import { previewSession, type SessionOfAgent, saveSession } from '../../../app/capture/save-session.ts';
import { findStore } from '../../../app/context.ts';
import { dim } from '../../../app/describe/styled-text.ts';
import { driftError, listDriftNotices, listJournalNotices } from '../../../app/notices.ts';
import { requireAgent, requireReader } from '../../../app/parse.ts';
import { catchIf, hasCode, notFoundError } from '../../../errors.ts';
import { writeV2Envelope } from '../../../exchange/legacy/v2-view.ts';
import { compileBrief } from '../../../handover/brief/compile.ts';
import type { Handover } from '../../../model/handover.ts';
import { identifyProject } from '../../../platform/project.ts';
import { openRedactor } from '../../../redact/open-redactor.ts';
import { readHistory } from '../../../store/handovers.ts';
import { readMarked } from '../../../store/marks.ts';
import type { Store } from '../../../store/store.ts';
import { budgetFlag, readBudget } from '../brief-flags.ts';
import type { CliContext } from '../context.ts';
import { choice, command, conflictError, type FlagValues, text, toggle } from '../flags.ts';

const flags = {
  agent: text('Only a session of this agent', 'agent'),
  session: text('The session with this id', 'session'),
  transcript: text('The session in this file', 'file'),
  latest: toggle('The newest session of this project (the default)'),
  budget: budgetFlag,
  target: text('The agent that will read the brief', 'agent'),
  goal: text('What the next session will do; guides the choice of facts'),
  print: choice(['brief', 'json', 'v2', 'none'], 'brief', 'What to print; v2 is the envelope of handoff V2'),
  dryRun: toggle('Save nothing'),
  json: toggle('The same as --print json'),
};
type CaptureFlags = FlagValues<typeof flags>;

export const capture = command('capture', runCapture, { flags });

async function runCapture(this: CliContext, values: CaptureFlags): Promise<void> {
  const reader = requireReader(values.target ?? 'generic');
  const budget = readBudget(values.budget);
  const chosen = await chooseSession(this, values);
  const { machine } = this;
  const goal = values.goal === undefined ? {} : { goal: redactGoal(values.goal, chosen, this) };
  const captured = values.dryRun
    ? await previewSession(chosen, { ...goal, store: findStoreOrNull(this), machine })
    : await saveSession(findStore(this), chosen, goal);
  if (captured.outcome === 'refused') throw driftError(chosen.session, captured.judgement);
  const { handover, outcome } = captured;
  const unwritten = outcome === 'saved' ? listJournalNotices(captured) : [];
  for (const notice of [...unwritten, ...listDriftNotices(chosen.agent.name, captured.judgement)]) this.notify(notice);
  if (outcome === 'saved' && captured.forgotten.length > 0)
    this.notify({
      level: 'note',
      text: `forgot ${captured.forgotten.join(', ')}: a secret in them was recognised only now, and this handover replaces them`,
    });
  const print = values.json ? 'json' : values.print;
  const isUnsaved = outcome === 'new';
  if (print === 'json') this.out.json(isUnsaved ? withoutId(handover) : handover);
  if (print === 'v2')
    this.out.json(writeV2Envelope(handover, { machine, history: readHistory(findStore(this), handover) }));
  if (print === 'brief') {
    const store = findStoreOrNull(this);
    const shown = store === null ? handover : readMarked(store, handover);
    this.out.block(compileBrief(shown, reader, { budget, ...goal, isUnsaved }).text);
  }
  if (outcome === 'known') this.err.line(dim(`nothing new since handover ${handover.id}: nothing was saved`));
  if (outcome === 'saved') this.err.line(dim(`saved handover ${handover.id}`));
}

/** What is saved later gets another id. */
function withoutId({ id: _, checksum: __, ...draft }: Handover): object {
  return draft;
}

/** A dry run needs no store, so it also works where none can be placed. */
function findStoreOrNull(context: CliContext): Store | null {
  return catchIf(
    (error) => hasCode(error, 'HANDOVER_HOME_UNKNOWN'),
    null,
    () => findStore(context),
  );
}

async function chooseSession({ machine }: CliContext, values: CaptureFlags): Promise<SessionOfAgent> {
  const { session: id, transcript, latest } = values;
  if (transcript !== undefined && id !== undefined) throw conflictError('--transcript', '--session');
  if (latest && transcript !== undefined) throw conflictError('--latest', '--transcript');
  if (latest && id !== undefined) throw conflictError('--latest', '--session');
  const name = values.agent === undefined ? undefined : requireAgent(values.agent);
  if (transcript !== undefined) return await inspectTranscript(resolve(machine.cwd, transcript), name);
  const sessions = await findSessions(machine, {
    agent: name,
    project: id === undefined ? identifyProject('.', machine).id : undefined,
  });
  const session = id === undefined ? (listByLastEvent(sessions)[0]?.session ?? null) : pickSession(sessions, id);
  if (session === null) throw notFoundError('no session was found', 'List sessions: handover sessions');
  return { agent: await loadAgent(session.agent), session };
}

function redactGoal(goal: string, { session }: SessionOfAgent, { machine }: CliContext): string {
  return openRedactor(machine, { folder: session.cwd, makesKey: false }).redactText(goal, { byHuman: true });
}
