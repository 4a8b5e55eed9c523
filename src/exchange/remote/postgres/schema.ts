/** A little above the limits of the sync itself: these only keep out what cannot be a page or body. */
export const MAX_PAGE_BYTES: number = 2 * 1024 * 1024;
export const MAX_BODY_BYTES: number = 18 * 1024 * 1024;

/**
 * All migrations of the tables, oldest first. A released one is never edited; changes are appended. Every function names the
 * schema in full and has a fixed search path, so that nobody can substitute what it calls. Only functions and triggers of the
 * owner change rows; members insert and read.
 */
export function listMigrations(schema: string): string[] {
  return [`${TABLES}${RIGHTS}${CUSTODY}${MEMBERS}`].map((sql) =>
    sql.replaceAll('{s}.', `"${schema}".`).replaceAll('{s}', schema),
  );
}

/** A function that runs as the owner of the schema. */
const AS_OWNER = 'SECURITY DEFINER SET search_path = pg_catalog, pg_temp';

const ID = 'text COLLATE "C" NOT NULL';

const TABLES = `
CREATE TABLE {s}.schema_version (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  version integer NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
);

-- Which role belongs to which team; "*" is every project of it. A role can be a group.
CREATE TABLE {s}.members (
  role text NOT NULL,
  team ${ID} CHECK (team ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  project ${ID} DEFAULT '*' CHECK (project ~ '^([A-Za-z0-9][A-Za-z0-9._-]{0,63}|[*])$'),
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (role, team, project)
);

CREATE TABLE {s}.pages (
  team ${ID} CHECK (team ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  project ${ID} CHECK (project ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  writer ${ID} CHECK (writer ~ '^[0-9a-f]{32}$'),
  number bigint NOT NULL CHECK (number BETWEEN 1 AND 9007199254740991),
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  bytes bytea NOT NULL CHECK (octet_length(bytes) BETWEEN 1 AND ${MAX_PAGE_BYTES}),
  PRIMARY KEY (team, project, writer, number)
);

-- The newest page of each log, and the role that began it: no other appends to it.
CREATE TABLE {s}.logs (
  team ${ID},
  project ${ID},
  writer ${ID},
  newest bigint NOT NULL,
  digest ${ID},
  role text NOT NULL,
  PRIMARY KEY (team, project, writer)
);

-- What is forgotten is deleted. That it does not come back is the matter of signed tombstones.
CREATE TABLE {s}.bodies (
  team ${ID} CHECK (team ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  project ${ID} CHECK (project ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  name ${ID},
  handover ${ID} CHECK (handover ~ '^[0-9]{8}-[0-9]{6}(-[0-9a-z]{3,4})?$'),
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  role text NOT NULL DEFAULT session_user,
  worked_at timestamptz NOT NULL,
  bytes bytea CHECK (octet_length(bytes) BETWEEN 1 AND ${MAX_BODY_BYTES}),
  size integer GENERATED ALWAYS AS (octet_length(bytes)) STORED,
  title text CHECK (octet_length(title) <= 2048),
  agent text CHECK (octet_length(agent) <= 128),
  lines text CHECK (octet_length(lines) <= 262144),
  words tsvector,
  PRIMARY KEY (team, project, name),
  CHECK (name ~ '^[0-9a-z-]{15,20}-[0-9a-f]{32}$' AND left(name, -33) = handover),
  CHECK (bytes IS NULL OR right(name, 32) = left(encode(sha256(bytes), 'hex'), 32))
);
CREATE INDEX bodies_newest ON {s}.bodies (team, worked_at DESC, name DESC) WHERE size IS NOT NULL;
CREATE INDEX bodies_newest_of_project ON {s}.bodies (team, project, worked_at DESC, name DESC) WHERE size IS NOT NULL;
CREATE INDEX bodies_handover ON {s}.bodies (team, handover);
CREATE INDEX bodies_words ON {s}.bodies USING gin (words) WHERE words IS NOT NULL;
`;

const RIGHTS = `
-- Whether the caller has the rights of a role. The caller is who logged in: a function of the owner has another current user.
CREATE FUNCTION {s}.has_role(name text) RETURNS boolean LANGUAGE sql STABLE ${AS_OWNER} AS $$
  SELECT EXISTS (SELECT FROM pg_roles r WHERE r.rolname IN (name, current_user) AND pg_has_role(session_user, r.oid, 'MEMBER'))
$$;

-- Asked once a statement, not once a row.
CREATE FUNCTION {s}.own_teams() RETURNS SETOF text LANGUAGE sql STABLE ${AS_OWNER} AS $$
  SELECT m.team FROM {s}.members m JOIN pg_roles r ON r.rolname = m.role
  WHERE m.project = '*' AND pg_has_role(session_user, r.oid, 'MEMBER')
$$;
CREATE FUNCTION {s}.own_projects() RETURNS SETOF text LANGUAGE sql STABLE ${AS_OWNER} AS $$
  SELECT m.team || '/' || m.project FROM {s}.members m JOIN pg_roles r ON r.rolname = m.role
  WHERE m.project <> '*' AND pg_has_role(session_user, r.oid, 'MEMBER')
$$;
CREATE FUNCTION {s}.may_use(of_team text, of_project text) RETURNS boolean LANGUAGE sql STABLE ${AS_OWNER} AS $$
  SELECT pg_has_role(session_user, current_user, 'MEMBER') OR EXISTS (
    SELECT FROM {s}.members m JOIN pg_roles r ON r.rolname = m.role
    WHERE m.team = of_team AND m.project IN ('*', of_project) AND pg_has_role(session_user, r.oid, 'MEMBER'))
$$;

CREATE FUNCTION {s}.note_page() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
DECLARE began text;
BEGIN
  INSERT INTO {s}.logs AS l (team, project, writer, newest, digest, role)
  VALUES (NEW.team, NEW.project, NEW.writer, NEW.number, encode(sha256(NEW.bytes), 'hex'), session_user)
  ON CONFLICT (team, project, writer) DO UPDATE SET newest = greatest(l.newest, EXCLUDED.newest),
    digest = CASE WHEN EXCLUDED.newest > l.newest THEN EXCLUDED.digest ELSE l.digest END
  RETURNING l.role INTO began;
  IF began <> session_user AND NOT {s}.has_role(began) THEN
    RAISE insufficient_privilege USING MESSAGE = 'another role writes this log';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER note_page AFTER INSERT ON {s}.pages FOR EACH ROW EXECUTE FUNCTION {s}.note_page();

-- Of those that the caller's role wrote. What is gone is no error.
CREATE FUNCTION {s}.delete_bodies(of_team text, of_project text, names text[]) RETURNS bigint LANGUAGE plpgsql ${AS_OWNER} AS $$
DECLARE deleted bigint;
BEGIN
  IF NOT {s}.may_use(of_team, of_project) THEN
    RAISE insufficient_privilege USING MESSAGE = 'not of this team';
  END IF;
  DELETE FROM {s}.bodies b
  WHERE b.team = of_team AND b.project = of_project AND b.name = ANY (names)
    AND (b.role = session_user OR {s}.has_role(b.role));
  GET DIAGNOSTICS deleted = ROW_COUNT;
  RETURN deleted;
END $$;

-- The newest that match. Row security would keep the index of words from being used, so the rights are checked here. The
-- statement is planned for the very words: common ones go by time, rare ones by the index.
CREATE FUNCTION {s}.find_newest(of_team text, of_project text, of_agent text, since timestamptz, query tsquery, most integer)
RETURNS TABLE (project text, name text, handover text, worked_at timestamptz, size integer, title text, agent text, lines text)
LANGUAGE plpgsql STABLE ${AS_OWNER} SET enable_seqscan = off AS $$
DECLARE allowed text[];
BEGIN
  IF NOT {s}.may_use(of_team, '*') THEN
    allowed := ARRAY (SELECT split_part(p, '/', 2) FROM {s}.own_projects() p WHERE split_part(p, '/', 1) = of_team);
  END IF;
  RETURN QUERY EXECUTE
    'SELECT b.project::text, b.name::text, b.handover::text, b.worked_at, b.size, b.title, b.agent, b.lines FROM {s}.bodies b
     WHERE b.team = $1 AND b.size IS NOT NULL AND b.words IS NOT NULL AND b.words @@ $5'
    || CASE WHEN of_project IS NULL THEN '' ELSE ' AND b.project = $2' END
    || CASE WHEN of_agent IS NULL THEN '' ELSE ' AND lower(b.agent) = lower($3)' END
    || CASE WHEN since IS NULL THEN '' ELSE ' AND b.worked_at >= $4' END
    || CASE WHEN allowed IS NULL THEN '' ELSE ' AND b.project = ANY ($7)' END
    || ' ORDER BY b.worked_at DESC, b.name DESC LIMIT $6'
  USING of_team, of_project, of_agent, since, query, least(most, 1000), allowed;
END $$;
`;

/** How long a lease may be: nobody can hold a task for ever by one statement. */
const LONGEST_LEASE = "interval '31 days'";

const CUSTODY = `
CREATE TABLE {s}.custody (
  team ${ID} CHECK (team ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  task ${ID} CHECK (octet_length(task) BETWEEN 1 AND 64),
  project ${ID} CHECK (project ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  number bigint NOT NULL CHECK (number >= 1),
  state ${ID} CHECK (state IN ('offered', 'held', 'released', 'done')),
  holder_writer ${ID} CHECK (holder_writer ~ '^[0-9a-f]{32}$'),
  holder_name text NOT NULL CHECK (octet_length(holder_name) <= 256),
  to_name text CHECK (octet_length(to_name) <= 256),
  label text COLLATE "C" CHECK (octet_length(label) <= 256),
  until timestamptz CHECK ((until IS NULL) = (state <> 'held')),
  at timestamptz NOT NULL,
  offered_at timestamptz NOT NULL,
  role text NOT NULL DEFAULT session_user,
  PRIMARY KEY (team, task)
);
CREATE INDEX custody_open ON {s}.custody (team, offered_at, task) WHERE state IN ('offered', 'released');
CREATE INDEX custody_open_of_project ON {s}.custody (team, project, offered_at, task) WHERE state IN ('offered', 'released');
CREATE INDEX custody_open_of_label ON {s}.custody (team, project, label, offered_at, task) WHERE state IN ('offered', 'released');
CREATE INDEX custody_open_with_label ON {s}.custody (team, label, offered_at, task) WHERE state IN ('offered', 'released') AND label IS NOT NULL;
CREATE INDEX custody_held ON {s}.custody (team, until) WHERE state = 'held';

-- Every state that a task ever had.
CREATE TABLE {s}.custody_history (LIKE {s}.custody, PRIMARY KEY (team, task, number));
CREATE FUNCTION {s}.note_custody() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
BEGIN
  INSERT INTO {s}.custody_history SELECT NEW.*;
  RETURN NULL;
END $$;
CREATE TRIGGER note_custody AFTER INSERT OR UPDATE ON {s}.custody FOR EACH ROW EXECUTE FUNCTION {s}.note_custody();

-- Only if the number is one more than the newest. Who holds a task by a lease that is not over is not robbed of it by another role.
CREATE FUNCTION {s}.append_custody(next {s}.custody) RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
DECLARE changed integer;
BEGIN
  IF NOT {s}.may_use(next.team, next.project) THEN
    RAISE insufficient_privilege USING MESSAGE = 'not of this team';
  END IF;
  IF next.until > clock_timestamp() + ${LONGEST_LEASE} THEN
    RAISE check_violation USING MESSAGE = 'the lease is too long';
  END IF;
  next.role := session_user;
  IF next.number = 1 THEN
    INSERT INTO {s}.custody SELECT next.* ON CONFLICT DO NOTHING;
  ELSE
    PERFORM FROM {s}.custody c WHERE c.team = next.team AND c.task = next.task AND c.number = next.number - 1
      AND (c.project <> next.project OR (c.state = 'held' AND c.until >= clock_timestamp() AND NOT {s}.has_role(c.role)));
    IF FOUND THEN
      RAISE insufficient_privilege USING MESSAGE = 'another role holds this task';
    END IF;
    UPDATE {s}.custody c SET number = next.number, state = next.state, holder_writer = next.holder_writer,
      holder_name = next.holder_name, to_name = next.to_name, label = next.label, until = next.until, at = next.at,
      offered_at = next.offered_at, role = next.role
    WHERE c.team = next.team AND c.task = next.task AND c.number = next.number - 1;
  END IF;
  GET DIAGNOSTICS changed = ROW_COUNT;
  RETURN changed = 1;
END $$;

-- The oldest that is open, in one statement and by the clock here. A row that another is about to take is passed over.
CREATE FUNCTION {s}.take_next(of_team text, of_project text, of_label text, taker_writer text, taker_name text, lease interval)
RETURNS SETOF {s}.custody LANGUAGE plpgsql ${AS_OWNER} AS $$
DECLARE moment timestamptz := date_trunc('milliseconds', clock_timestamp());
  allowed text[];
  which text;
BEGIN
  IF of_project IS NOT NULL AND NOT {s}.may_use(of_team, of_project) THEN
    RAISE insufficient_privilege USING MESSAGE = 'not of this team';
  END IF;
  IF lease NOT BETWEEN interval '1 second' AND ${LONGEST_LEASE} THEN
    RAISE check_violation USING MESSAGE = 'the lease is too short or too long';
  END IF;
  IF of_project IS NULL AND NOT {s}.may_use(of_team, '*') THEN
    allowed := ARRAY (SELECT split_part(p, '/', 2) FROM {s}.own_projects() p WHERE split_part(p, '/', 1) = of_team);
    -- By the index of projects, not past the tasks of all others.
    IF cardinality(allowed) = 1 THEN
      of_project := allowed[1];
    END IF;
  END IF;
  which := CASE WHEN of_project IS NULL THEN '' ELSE ' AND c.project = $2' END
    || CASE WHEN of_label IS NULL THEN '' ELSE ' AND c.label = $3' END
    || CASE WHEN allowed IS NULL THEN '' ELSE ' AND c.project = ANY ($8)' END
    || ' ORDER BY c.offered_at, c.task LIMIT 1 FOR UPDATE SKIP LOCKED';
  RETURN QUERY EXECUTE
    'WITH waiting AS (SELECT c.task, c.offered_at FROM {s}.custody c WHERE c.team = $1 AND c.state IN (''offered'', ''released'')
       AND (c.state = ''released'' OR c.to_name IS NULL OR c.to_name = $5)' || which || '),
     expired AS (SELECT c.task, c.offered_at FROM {s}.custody c WHERE c.team = $1 AND c.state = ''held'' AND c.until < $6' || which || '),
     oldest AS (SELECT o.task FROM (TABLE waiting UNION ALL TABLE expired) o ORDER BY o.offered_at, o.task LIMIT 1)
     UPDATE {s}.custody c SET number = c.number + 1, state = ''held'', holder_writer = $4, holder_name = $5, until = $6 + $7, at = $6,
       role = session_user
     FROM oldest WHERE c.team = $1 AND c.task = oldest.task RETURNING c.*'
  USING of_team, of_project, of_label, taker_writer, taker_name, moment, lease, allowed;
END $$;
`;

const GUARDED = ['pages', 'logs', 'bodies', 'custody', 'custody_history'];
const FUNCTIONS = [
  'own_teams()',
  'own_projects()',
  'may_use(text, text)',
  'delete_bodies(text, text, text[])',
  'find_newest(text, text, text, timestamptz, tsquery, integer)',
  'append_custody({s}.custody)',
  'take_next(text, text, text, text, text, interval)',
];
const OF_TEAM =
  "(team = ANY (ARRAY (SELECT {s}.own_teams())) OR team || '/' || project = ANY (ARRAY (SELECT {s}.own_projects())))";

const MEMBERS = `
${GUARDED.map(
  (table) => `ALTER TABLE {s}.${table} ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_team ON {s}.${table} USING ${OF_TEAM} WITH CHECK ${OF_TEAM};`,
).join('\n')}
ALTER TABLE {s}.members ENABLE ROW LEVEL SECURITY;
CREATE POLICY only_whole ON {s}.bodies AS RESTRICTIVE FOR INSERT WITH CHECK (bytes IS NOT NULL);
REVOKE ALL ON ALL TABLES IN SCHEMA "{s}" FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA "{s}" FROM PUBLIC;

-- What every member may do: insert and read.
CREATE FUNCTION {s}.grant_use(to_role text) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  EXECUTE format('GRANT USAGE ON SCHEMA "{s}" TO %I', to_role);
  EXECUTE format('GRANT SELECT ON {s}.schema_version, ${GUARDED.map((table) => `{s}.${table}`).join(', ')} TO %I', to_role);
  EXECUTE format('GRANT INSERT (team, project, writer, number, bytes) ON {s}.pages TO %I', to_role);
  EXECUTE format('GRANT INSERT (team, project, name, handover, worked_at, bytes, title, agent, lines, words) ON {s}.bodies TO %I', to_role);
  EXECUTE format('GRANT EXECUTE ON FUNCTION ${FUNCTIONS.map((name) => `{s}.${name}`).join(', ')} TO %I', to_role);
END $$;

CREATE FUNCTION {s}.admit(member text, to_team text, to_project text DEFAULT '*') RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM {s}.grant_use(member);
  INSERT INTO {s}.members (role, team, project) VALUES (member, to_team, to_project) ON CONFLICT DO NOTHING;
END $$;

CREATE FUNCTION {s}.dismiss(member text, from_team text, from_project text DEFAULT NULL) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  DELETE FROM {s}.members m WHERE m.role = member AND m.team = from_team AND (from_project IS NULL OR m.project = from_project)
$$;
REVOKE ALL ON FUNCTION {s}.grant_use(text), {s}.admit(text, text, text), {s}.dismiss(text, text, text) FROM PUBLIC;
`;
