import type { Event } from '../model/event.ts';
import type { Fact } from '../model/fact.ts';
import { cleanLine, cutToBytes } from '../model/text.ts';
import { findCommandFacts, findRunningFacts } from './commands.ts';
import { rateNames } from './facts.ts';
import { findFileFacts } from './files.ts';
import { closeSessionLog, logEvent } from './log-events.ts';
import { findReferenceFacts } from './references.ts';
import { findCurrentPrompt, SessionLog } from './session-log.ts';
import { findSettledFacts } from './settled.ts';
import { findBlockerFacts, findStateFact, findTaskFacts } from './state.ts';
import { findLogFact } from './steps.ts';
import { findDocumentFacts, findPromptFacts, findTurnFacts, listTurns } from './turns.ts';

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
  const relevance = rateNames(log);
  const turns = listTurns(log);
  const facts = [
    findStateFact(log, turns),
    ...findPromptFacts(log),
    ...findTaskFacts(log),
    ...findBlockerFacts(log),
    ...findRunningFacts(log),
    ...findSettledFacts(log, turns),
    ...findTurnFacts(log, turns),
    ...findDocumentFacts(log),
    findLogFact(log),
    ...findFileFacts(log, relevance),
    ...findCommandFacts(log, relevance),
    ...findReferenceFacts(log),
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
