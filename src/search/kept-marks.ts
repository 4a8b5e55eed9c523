import { MARKS, type Mark, type Marks } from '../handover/marks.ts';
import { textIn } from '../platform/cache-database.ts';
import type { SqlDatabase } from '../platform/sqlite.ts';

/** What was said of the facts of a project, without what holds them. */
export function readKeptMarks(database: SqlDatabase, project: string): Marks {
  const marks = new Map<string, Mark>();
  const rows = database.prepare('SELECT fact, mark, at, because FROM marks WHERE project = ?').all(project);
  for (const row of rows) {
    const mark = MARKS.find((known) => known === textIn(row, 'mark'));
    const because = textIn(row, 'because');
    if (mark !== undefined)
      marks.set(textIn(row, 'fact'), {
        mark,
        at: textIn(row, 'at'),
        because: because === '' ? null : because,
        held: null,
      });
  }
  return marks;
}
