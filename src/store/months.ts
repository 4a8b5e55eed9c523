import { join } from 'node:path';
import { listFolder } from '../platform/folders.ts';
import { folderOfMonth, HANDOVERS, idOfName, type Month, type Store } from './store.ts';

const YEAR = /^\d{4}$/;
const MONTH = /^(?:0[1-9]|1[0-2])$/;

/** Months that hold, or held, handovers; newest first. */
export function listMonths(store: Store): Month[] {
  const root = join(store.root, HANDOVERS);
  const years = listFolder(root).filter((name) => YEAR.test(name));
  return years
    .sort()
    .reverse()
    .flatMap((year) => listMonthsOfYear(root, year));
}

function listMonthsOfYear(root: string, year: string): Month[] {
  return listFolder(join(root, year))
    .filter((name) => MONTH.test(name))
    .sort()
    .reverse()
    .map((month): Month => [year, month]);
}

/** The ids that a month's folder holds, newest first by name. Ids that belong to another month are not its. */
export function listIds(store: Store, month: Month): string[] {
  const prefix = month.join('');
  const ids: string[] = [];
  for (const name of listFolder(folderOfMonth(store, month))) {
    const id = idOfName(name);
    if (id?.startsWith(prefix)) ids.push(id);
  }
  return ids.sort().reverse();
}
