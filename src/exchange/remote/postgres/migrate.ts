import * as v from 'valibot';
import { HandoverError } from '../../../errors.ts';
import type { Database } from './connection.ts';
import { listMigrations } from './schema.ts';

const Version = v.tuple([v.pipe(v.string(), v.regex(/^\d{1,9}$/), v.transform(Number))]);
const Flag = v.tuple([v.nullable(v.picklist(['t', 'f']))]);
const Name = v.tuple([v.nullable(v.string())]);

/**
 * Brings the tables up to date, if this role may. Any number of clients can do it at once: they take turns by a lock, and all but
 * the first find it done. Engines without such a lock report a conflict, after which the others try again.
 */
export async function migrate(database: Database, schema: string): Promise<void> {
  const steps = listMigrations(schema);
  const [version] = await findVersion(database, schema);
  if (version === steps.length) return;
  if (version > steps.length) throw tooNewError(version);
  await database.transact(async (transaction) => {
    await transaction.execute(`SELECT pg_advisory_xact_lock(hashtextextended('agent-handover ${schema}', 0))`);
    const [reached, isOwn] = await findVersion(transaction, schema);
    if (reached >= steps.length) return;
    if (!isOwn) throw notSetUpError(reached);
    if (reached === 0) await createSchema(transaction, schema);
    for (const step of steps.slice(reached)) await transaction.execute(step);
    await transaction.execute(
      `INSERT INTO "${schema}".schema_version (version) VALUES (${steps.length})
         ON CONFLICT (is_only) DO UPDATE SET version = EXCLUDED.version, at = now();
       SELECT "${schema}".grant_use(role) FROM (SELECT DISTINCT m.role FROM "${schema}".members m JOIN pg_roles r ON r.rolname = m.role) x`,
    );
  });
}

type Asking = Pick<Database, 'ask' | 'execute'>;

/** The version is 0 where there are no tables. `isOwn`: this role owns the schema, or could create it. */
async function findVersion(database: Asking, schema: string): Promise<[version: number, isOwn: boolean]> {
  const [table] = await database.ask({
    sql: `SELECT CASE WHEN has_schema_privilege(n.oid, 'USAGE') THEN to_regclass('"${schema}".schema_version')::text ELSE '' END
          FROM pg_namespace n WHERE n.nspname = $1`,
    values: [schema],
    row: Name,
    isRepeatable: true,
  });
  const [own] = await database.ask({
    sql: `SELECT coalesce((SELECT pg_has_role(session_user, n.nspowner, 'MEMBER') FROM pg_namespace n WHERE n.nspname = $1),
            has_database_privilege(current_database(), 'CREATE'))`,
    values: [schema],
    row: Flag,
    isRepeatable: true,
  });
  const isOwn = own?.[0] === 't';
  if (table?.[0] === '') throw notMemberError(schema);
  if (table === undefined || table[0] === null) return [0, isOwn];
  const [row] = await database.ask({
    sql: `SELECT version FROM "${schema}".schema_version`,
    row: Version,
    isRepeatable: true,
  });
  return [row?.[0] ?? 0, isOwn];
}

async function createSchema(database: Asking, schema: string): Promise<void> {
  const sql = 'SELECT to_regnamespace($1)::text';
  const [row] = await database.ask({ sql, values: [`"${schema}"`], row: Name });
  // Even `IF NOT EXISTS` needs the right to create one.
  if (row?.[0] == null) await database.execute(`CREATE SCHEMA "${schema}"`);
}

function tooNewError(version: number): HandoverError {
  const message = `the tables are of a newer version (${version}) than this program knows`;
  const hint = 'Update agent-handover: npm install -g agent-handover';
  return new HandoverError('HANDOVER_REMOTE_REFUSED', message, { hint, data: { version } });
}

function notSetUpError(version: number): HandoverError {
  const what = version === 0 ? 'there are no tables yet' : `the tables are of an older version (${version})`;
  return new HandoverError('HANDOVER_REMOTE_REFUSED', `${what}, and this role may not change that`, {
    hint: 'The owner of the schema sets them up: handover remote test NAME',
    data: { version },
  });
}

function notMemberError(schema: string): HandoverError {
  return new HandoverError('HANDOVER_REMOTE_REFUSED', `this role may not use the schema ${schema}`, {
    hint: `Its owner lets a role in with: SELECT ${schema}.admit('ROLE', 'TEAM');`,
  });
}
