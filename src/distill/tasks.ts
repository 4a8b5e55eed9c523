import type { Fact } from '../model/fact.ts';
import type { Account } from './account.ts';
import { draftFact } from './draft-fact.ts';
import type { Valuation } from './value.ts';
import { weighNames } from './weigh.ts';

const OPEN_POINTS = 20_000;
/** What is done need not be done again, and says what the rest is about. */
const DONE_POINTS = 150;

/** The plan as it last stood: each item with its true status. */
export function findTaskFacts(account: Account, valuation: Valuation): Fact[] {
  return account.plan.flatMap((item) => {
    const open = item.status === 'pending' || item.status === 'in_progress';
    const fact = draftFact('task', {
      text: item.text,
      line: account.planLine,
      status: item.status,
      trust: 'observed',
      origin: 'agent',
      weight: {
        points: open ? OPEN_POINTS : DONE_POINTS,
        age: 0,
        names: weighNames(`${item.id === undefined ? '' : `#${item.id} `}${item.text}`, valuation),
      },
      detail: {
        ...(item.id === undefined ? {} : { number: item.id }),
        ...(item.detail === undefined ? {} : { more: item.detail }),
      },
    });
    return fact === null ? [] : [fact];
  });
}
