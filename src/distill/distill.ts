import type { Event } from '../model/event.ts';
import type { Fact } from '../model/fact.ts';
import { cleanLine, cutToBytes } from '../model/text.ts';
import { type Account, closeAccount, enterEvent, findCurrentPrompt, openAccount } from './account.ts';
import { findCommandFacts, findRunningFacts } from './commands.ts';
import { draftFact } from './draft-fact.ts';
import { findFileFacts } from './files.ts';
import { findHaltFacts } from './halts.ts';
import { findMentionFacts } from './mentions.ts';
import { findPromptFacts } from './prompts.ts';
import { keepProse } from './prose.ts';
import { findReferenceFacts } from './references.ts';
import { findStatementFacts } from './statements.ts';
import { findTaskFacts } from './tasks.ts';
import { describeSurroundings, valueNames } from './value.ts';

export interface Distilled {
  title: string;
  facts: Fact[];
  cwd: string | null;
  model: string | null;
  startedAt: string | null;
  /** When the last thing happened that is told. */
  lastAt: string | null;
}

/** Everything worth carrying over from a session. The same events give the same facts, byte for byte. */
export function distilEvents(events: Iterable<Event>): Distilled {
  const account = openAccount();
  for (const event of events) enterEvent(account, event);
  closeAccount(account);
  return distilAccount(account);
}

export function distilAccount(account: Account): Distilled {
  const valuation = valueNames(account, describeSurroundings(account));
  const facts = [
    ...findPromptFacts(account),
    ...findTaskFacts(account, valuation),
    ...findHaltFacts(account),
    ...findLastReply(account),
    ...findRunningFacts(account),
    ...findFileFacts(account, valuation),
    ...findCommandFacts(account, valuation),
    ...findStatementFacts(account, valuation),
    ...findReferenceFacts(account, valuation),
    ...findMentionFacts(account, valuation),
  ];
  return {
    title: findTitle(account),
    facts: [...new Map(facts.map((fact) => [fact.id, fact])).values()],
    cwd: account.cwd,
    model: account.model,
    startedAt: account.firstAt,
    lastAt: account.lastAt,
  };
}

const MAX_TITLE_BYTES = 100;

function findTitle(account: Account): string {
  const current = account.prompts[findCurrentPrompt(account)];
  const [line = ''] = cleanLine(current?.text ?? '').split('\n');
  return cutToBytes(line, MAX_TITLE_BYTES) || 'a session without a request';
}

const LAST_WORDS = 40;

/** Where the work stopped, in the agent's own words. */
function findLastReply(account: Account): Fact[] {
  const last = account.replies.findLast((reply) => keepProse(reply.text).length > LAST_WORDS);
  if (last === undefined) return [];
  const fact = draftFact('note', {
    text: keepProse(last.text),
    line: last.line,
    trust: 'quoted',
    origin: 'agent',
    weight: { points: 0, age: account.calls - last.call },
    detail: { role: 'stopped' },
  });
  return fact === null ? [] : [fact];
}
