import type { Event } from '../model/event.ts';
import type { Fact } from '../model/fact.ts';
import { cleanLine, cutToBytes } from '../model/text.ts';
import { findCommandFacts, findRunningFacts } from './commands.ts';
import { BY_AGENT, draftFact, valueNames } from './facts.ts';
import { findFileFacts } from './files.ts';
import { findPromptFacts, findTaskFacts } from './prompts.ts';
import { keepProse } from './prose.ts';
import { findMentionFacts, findReferenceFacts } from './references.ts';
import { closeSessionLog, findCurrentPrompt, logEvent, SessionLog } from './session-log.ts';
import { findBlockerFacts, findStatementFacts } from './statements.ts';

export interface Distillation {
  title: string;
  facts: Fact[];
  cwd: string | null;
  model: string | null;
  startedAt: string | null;
  lastAt: string | null;
}

/** Deterministic: the same events give the same facts, byte for byte. */
export function distillEvents(events: Iterable<Event>): Distillation {
  const log = new SessionLog();
  for (const event of events) logEvent(log, event);
  closeSessionLog(log);
  return distillLog(log);
}

/** The log has to be closed. */
export function distillLog(log: SessionLog): Distillation {
  const valuation = valueNames(log);
  const facts = [
    ...findPromptFacts(log),
    ...findTaskFacts(log, valuation),
    ...findBlockerFacts(log),
    findLastReply(log),
    ...findRunningFacts(log),
    ...findFileFacts(log, valuation),
    ...findCommandFacts(log, valuation),
    ...findStatementFacts(log, valuation),
    ...findReferenceFacts(log, valuation),
    ...findMentionFacts(log, valuation),
  ].filter((fact) => fact !== null);
  const current = log.prompts[findCurrentPrompt(log)];
  const title = cutToBytes(cleanLine(current?.text ?? ''), MAX_TITLE_BYTES);
  return {
    title: title || 'a session without a request',
    facts: [...new Map(facts.map((fact) => [fact.id, fact])).values()],
    cwd: log.cwd,
    model: log.model,
    startedAt: log.firstAt,
    lastAt: log.lastAt,
  };
}

const MAX_TITLE_BYTES = 100;
const MIN_REPLY_LENGTH = 40;

function findLastReply(log: SessionLog): Fact | null {
  const last = log.replies.findLast((reply) => keepProse(reply.text).length > MIN_REPLY_LENGTH);
  if (last === undefined) return null;
  return draftFact('note', {
    text: keepProse(last.text),
    line: last.line,
    ...BY_AGENT,
    weight: { points: 0, age: log.calls - last.call },
    detail: { role: 'stopped' },
  });
}
