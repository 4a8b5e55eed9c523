import * as v from 'valibot';
import { Timestamp } from '../../../model/scalars.ts';
import type { Custody, Register, TaskFilter } from '../register.ts';
import { asTimestamp, type Database, type SqlValue } from './connection.ts';
import type { PostgresSettings } from './settings.ts';

const Text = v.pipe(v.string(), v.maxLength(300));
const Row = v.pipe(
  v.tuple([
    Text,
    Text,
    v.pipe(v.string(), v.regex(/^\d{1,15}$/), v.transform(Number)),
    v.picklist(['offered', 'held', 'released', 'done']),
    v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/)),
    Text,
    v.nullable(Text),
    v.nullable(Text),
    v.nullable(Timestamp),
    Timestamp,
    Timestamp,
  ]),
  v.transform(([task, project, number, state, writer, name, to, label, until, at, offered_at]): Custody => {
    return { task, project, number, state, holder: { writer, name }, to, label, until, at, offered_at };
  }),
);

const COLUMNS = [
  ...['c.task', 'c.project', 'c.number', 'c.state', 'c.holder_writer', 'c.holder_name', 'c.to_name', 'c.label'],
  ...['c.until', 'c.at', 'c.offered_at'].map(asTimestamp),
].join(', ');

/** One row a task. The clock is the server's, so that leases need no grace. */
export function openPostgresRegister(database: Database, { team, schema }: PostgresSettings): Register {
  return {
    read: async (task) => {
      const [custody] = await database.ask({
        sql: `SELECT ${COLUMNS} FROM "${schema}".custody c WHERE c.team = $1 AND c.task = $2`,
        values: [team, task],
        row: Row,
        maxRows: 1,
        isRepeatable: true,
      });
      return custody ?? null;
    },
    append: async ({ task, project, number, state, holder, to, label, until, at, offered_at }) => {
      const values = [team, task, project, number, state, holder.writer, holder.name, to, label, until, at, offered_at];
      const [row] = await database.ask({
        sql: `SELECT "${schema}".append_custody(ROW(${values.map((_, place) => `$${place + 1}`).join(', ')}, '')::"${schema}".custody)`,
        values,
        row: v.tuple([v.picklist(['t', 'f'])]),
        maxRows: 1,
      });
      return row?.[0] === 't';
    },
    listOpen: async (filter, limit) => {
      const values: SqlValue[] = [team, limit];
      const which = describeFilter(filter, values);
      const select = (state: string): string =>
        `(SELECT ${COLUMNS} FROM "${schema}".custody c WHERE c.team = $1 AND ${state}${which} ORDER BY c.offered_at, c.task LIMIT $2)`;
      const forOne =
        filter.for === undefined
          ? ''
          : ` AND (c.state = 'released' OR c.to_name IS NULL OR c.to_name = $${values.push(filter.for)})`;
      return await database.ask({
        sql: `${select(`c.state IN ('offered', 'released')${forOne}`)} UNION ALL ${select(`c.state = 'held' AND c.until < clock_timestamp()`)}
              ORDER BY 11, 1 LIMIT $2`,
        values,
        row: Row,
        maxRows: limit,
        maxBytes: 1024 * 1024 + limit * 1024,
        isRepeatable: true,
      });
    },
    takeNext: async (filter, { holder, leaseMs }) => {
      const [custody] = await database.ask({
        sql: `SELECT ${COLUMNS} FROM "${schema}".take_next($1, $2, $3, $4, $5, $6::bigint * interval '1 millisecond') c`,
        values: [team, filter.project ?? null, filter.label ?? null, holder.writer, holder.name, leaseMs],
        row: Row,
        maxRows: 1,
      });
      return custody ?? null;
    },
    now: async () => {
      const [row] = await database.ask({
        sql: 'SELECT round(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
        row: v.tuple([v.pipe(v.string(), v.regex(/^\d{1,15}$/), v.transform(Number))]),
        maxRows: 1,
        isRepeatable: true,
      });
      return { now: row?.[0] ?? Number.NaN, graceMs: 0 };
    },
  };
}

function describeFilter({ project, label }: TaskFilter, values: SqlValue[]): string {
  const conditions = [];
  if (project !== undefined) conditions.push(` AND c.project = $${values.push(project)}`);
  if (label !== undefined) conditions.push(` AND c.label = $${values.push(label)}`);
  return conditions.join('');
}
