import type { Fact } from '../model/fact.ts';
import type { Account } from './account.ts';
import { draftFact } from './draft-fact.ts';

const OPEN_POINTS = 20_000;

/** The plan as it last stood: each item with its true status. */
export function findTaskFacts(account: Account): Fact[] {
  return account.plan.flatMap((item) => {
    const open = item.status === 'pending' || item.status === 'in_progress';
    const fact = draftFact('task', {
      text: item.text,
      line: account.planLine,
      status: item.status,
      trust: 'observed',
      origin: 'agent',
      weight: { points: open ? OPEN_POINTS : 0, age: 0 },
      ...(item.detail === undefined ? {} : { detail: { more: item.detail } }),
    });
    return fact === null ? [] : [fact];
  });
}
