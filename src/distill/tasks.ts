import type { Fact } from '../model/fact.ts';
import { draftFact } from './facts.ts';
import type { SessionLog } from './session-log.ts';

/** The plan as it stands, item by item. */
export function findTaskFacts(log: SessionLog): (Fact | null)[] {
  return log.plan.map(({ id, text, status, detail }) =>
    draftFact('task', {
      text,
      line: log.planLine,
      status,
      trust: 'observed',
      origin: 'agent',
      age: 0,
      detail: { ...(id === undefined ? {} : { number: id }), ...(detail === undefined ? {} : { more: detail }) },
    }),
  );
}
