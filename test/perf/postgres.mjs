// How PostgreSQL as a remote does with many handovers. The database is filled on the server and must be one to throw away:
//   node test/perf/postgres.mjs postgres://OWNER@HOST/DATABASE postgres://MEMBER@HOST/DATABASE [SIZE ...] [--plans]
// Passwords come from ~/.pgpass, as for handover itself. MEMBER is a role that owns nothing.
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import pg from 'pg';
import {
  declareHandover,
  describeMachine,
  describePlace,
  openPostgresRemote,
  sealHandover,
} from '../../dist/internals/index.mjs';

const TEAM = 'big';
const PROJECTS = 200;
const WORDS = 20_000;
const WORKERS = 32;
const S = 'agent_handover';

const [ownerUrl = '', memberUrl = '', ...rest] = process.argv.slice(2);
const sizes = rest.filter((each) => /^\d+$/.test(each)).map(Number);
const machine = describeMachine();

/** @param {string} url */
async function open(url) {
  const address = new URL(url);
  address.searchParams.set('team', TEAM);
  return await openPostgresRemote(address, machine);
}

/** @param {string} url */
async function connect(url) {
  const { hostname: host, port, username: user, pathname } = new URL(url);
  const client = new pg.Client({ host, port: Number(port || 5432), user, database: pathname.slice(1) });
  await client.connect();
  return client;
}

/** @param {number} place */
function nameProject(place) {
  return `p-${String(place).padStart(16, '0')}`;
}

/** Words follow Zipf's law: the first is in most handovers, most are in few. */
const FILL = `
INSERT INTO ${S}.bodies (team, project, name, handover, worked_at, bytes, title, agent, lines, words)
SELECT '${TEAM}', 'p-' || lpad((n % ${PROJECTS})::text, 16, '0'), h || '-' || left(encode(sha256(b), 'hex'), 32), h, t, b,
  'handover ' || n, 'codex', l, w
FROM (SELECT *, convert_to(jsonb_build_object('id', h, 'text', l)::text, 'UTF8') AS b FROM (
  SELECT n, t, to_char(t AT TIME ZONE 'UTC', 'YYYYMMDD-HH24MISS-') || lpad(to_hex(n % 65536), 4, '0') AS h,
    'handover ' || n || E'\\nf-' || n || E'\\tdecision\\t' || string_agg(word, ' ') AS l, array_to_tsvector(array_agg(DISTINCT word)) AS w
  FROM (SELECT n, timestamptz '2026-01-01' - n * interval '30 seconds' AS t, 'w' || floor(power(${WORDS}, random()))::int AS word
        FROM generate_series($1::int, $2::int) n, generate_series(1, 40)) words
  GROUP BY n, t) texts) bodies
ON CONFLICT DO NOTHING`;

const FILL_TASKS = `
INSERT INTO ${S}.custody (team, task, project, number, state, holder_writer, holder_name, label, at, offered_at)
SELECT '${TEAM}', 'task-' || n, 'p-' || lpad((n % ${PROJECTS})::text, 16, '0'), 1, 'offered', repeat('a', 32), 'boss', 'l' || n % 5,
  timestamptz '2026-01-01', timestamptz '2026-01-01' + n * interval '1 second'
FROM generate_series($1::int, $2::int) n`;

const FILL_PAGES = `
INSERT INTO ${S}.pages (team, project, writer, number, bytes)
SELECT '${TEAM}', 'p-' || lpad((n % ${PROJECTS})::text, 16, '0'), md5((n / ${PROJECTS} % 50)::text), 1 + n / ${PROJECTS * 50}, decode(repeat(md5(n::text), 500), 'hex')
FROM generate_series($1::int, $2::int) n ON CONFLICT DO NOTHING`;

/**
 * @param {pg.Client} owner
 * @param {number} from
 * @param {number} to
 */
async function fill(owner, from, to) {
  const started = performance.now();
  await owner.query(`DROP INDEX IF EXISTS ${S}.bodies_words; ALTER TABLE ${S}.custody DISABLE TRIGGER note_custody`);
  for (let at = from; at < to; at += 20_000) await owner.query(FILL, [at, Math.min(to, at + 20_000) - 1]);
  await owner.query(FILL_TASKS, [from, to - 1]);
  await owner.query(FILL_PAGES, [Math.ceil(from / 100), Math.floor((to - 1) / 100)]);
  await owner.query(`CREATE INDEX bodies_words ON ${S}.bodies USING gin (words) WHERE words IS NOT NULL;
    ALTER TABLE ${S}.custody ENABLE TRIGGER note_custody`);
  for (const table of ['bodies', 'custody', 'pages', 'logs']) await owner.query(`VACUUM (ANALYZE) ${S}.${table}`);
  console.log(`filled to ${to} in ${((performance.now() - started) / 1000).toFixed(0)} s`);
}

/** @param {number[]} times */
function describeTimes(times) {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (/** @type {number} */ share) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);
  return `p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, worst ${at(1)} ms`;
}

/** @param {string} project */
function makeBodies(project) {
  const place = describePlace(process.cwd(), machine);
  return Array.from({ length: 100 }, (_, at) => {
    const facts = Array.from({ length: 20 }, () => ({
      kind: 'decision',
      text: Array.from({ length: 15 }, () => `w${Math.floor(WORDS ** Math.random())}`).join(' '),
    }));
    const declared = {
      title: `new ${at} ${randomBytes(8).toString('hex')}`,
      summary: '',
      agent: 'codex',
      by: 'human',
      sessionId: null,
      facts,
      files: [],
      pins: [],
      pinAll: false,
    };
    const draft = declareHandover(declared, place, machine);
    const handover = sealHandover({
      ...draft,
      id: `20260601-000000-${(at + 0x1000).toString(16)}`,
      created_at: '2026-06-01T00:00:00.000Z',
    });
    const bytes = Buffer.from(`${JSON.stringify(handover)}\n`);
    return { name: `${handover.id}-${digestOf(bytes)}`, project, bytes, handover };
  });
}

/** @param {Buffer} bytes */
function digestOf(bytes) {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 32);
}

/** One store writes a hundred handovers, another one finds and reads them. */
async function measureSync() {
  const [writer, reader] = [await open(memberUrl), await open(memberUrl)];
  await Promise.all([writer.listLogs(), reader.listLogs()]);
  const [pushes, pulls, both] = [[], [], []].map((list) => /** @type {number[]} */ (list));
  for (let round = 0; round < 15; round++) {
    const log = { writer: randomBytes(16).toString('hex'), project: nameProject(randomInt(PROJECTS)) };
    const bodies = makeBodies(log.project);
    const start = performance.now();
    await writer.writeBodies(bodies);
    await writer.appendPage(log, { number: 1, bytes: randomBytes(30_000) });
    const pushed = performance.now();
    const found = (await reader.listLogs()).find((each) => each.writer === log.writer);
    const pages = await reader.readPages(log, { after: 0, limit: 200 });
    let count = 0;
    for await (const { bytes } of reader.readBodies(
      log.project,
      bodies.map(({ name }) => name),
    ))
      count += bytes.length > 0 ? 1 : 0;
    const end = performance.now();
    if (found?.newest !== 1 || pages.length !== 1 || count !== 100) throw new Error('what was written was not found');
    pushes.push(pushed - start);
    pulls.push(end - pushed);
    both.push(end - start);
  }
  console.log(`  100 new: write ${describeTimes(pushes)}; read ${describeTimes(pulls)}; both ${describeTimes(both)}`);
  await writer.close();
  await reader.close();
}

async function measureSearch() {
  const [remote, member] = [await open(memberUrl), await connect(memberUrl)];
  await remote.listLogs();
  for (const [what, pick] of /** @type {[string, () => number[]][]} */ ([
    ['one common word', () => [randomInt(1, 20)]],
    ['one rare word', () => [randomInt(2000, WORDS)]],
    ['a common and a rare word', () => [randomInt(1, 50), randomInt(1000, WORDS)]],
    ['two words of the middle', () => [randomInt(50, 1000), randomInt(50, 1000)]],
    ['three words', () => [randomInt(1, 100), randomInt(10, 1000), randomInt(10, 5000)]],
  ])) {
    const [server, whole] = [[], []].map((list) => /** @type {number[]} */ (list));
    for (let round = 0; round < 40; round++) {
      const words = pick().map((number) => `w${number}`);
      let start = performance.now();
      await member.query(`SELECT name FROM ${S}.find_newest($1, NULL, NULL, NULL, $2::tsquery, 60)`, [
        TEAM,
        words.map((word) => `'${word}'`).join(' & '),
      ]);
      server.push(performance.now() - start);
      start = performance.now();
      await remote.catalog.search({ text: words.join(' '), limit: 10 });
      whole.push(performance.now() - start);
    }
    console.log(`  search, ${what}: on the server ${describeTimes(server)}; with ranking here ${describeTimes(whole)}`);
  }
  await remote.close();
  await member.end();
}

async function measureTakes() {
  const remotes = await Promise.all(Array.from({ length: WORKERS }, async () => await open(memberUrl)));
  for (const remote of remotes) await remote.listLogs();
  const started = performance.now();
  const taken = new Set();
  let count = 0;
  await Promise.all(
    remotes.map(async (remote, at) => {
      const register = remote.openRegister();
      if ('why' in register) return;
      const holder = { writer: randomBytes(16).toString('hex'), name: `worker ${at}` };
      while (performance.now() - started < 5000) {
        const custody = await register.takeNext?.({}, { holder, leaseMs: 3_600_000 });
        if (custody == null) break;
        taken.add(custody.task);
        count++;
      }
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  console.log(
    `  take --next, ${WORKERS} workers: ${Math.round(count / seconds)} a second (${count} taken, ${count - taken.size} of them twice)`,
  );
  for (const remote of remotes) await remote.close();
}

const PLANS = {
  'pages after a number': `SELECT number, bytes FROM ${S}.pages WHERE team = '${TEAM}' AND project = '${nameProject(7)}' AND writer = md5('2') AND number > 0 ORDER BY number LIMIT 200`,
  'logs of a team': `SELECT project, writer, newest FROM ${S}.logs WHERE team = '${TEAM}' AND (project, writer) > ('${nameProject(7)}', '') ORDER BY team, project, writer LIMIT 100`,
  'bodies by name': `SELECT name, bytes FROM ${S}.bodies WHERE team = '${TEAM}' AND project = '${nameProject(7)}' AND name = ANY ('{20250101-000000-0000-x,20250101-000000-0000-y}') AND size IS NOT NULL`,
  'newest of a team': `SELECT name, title FROM ${S}.bodies WHERE team = '${TEAM}' AND size IS NOT NULL ORDER BY worked_at DESC, name DESC LIMIT 20`,
  'newest of a project': `SELECT name, title FROM ${S}.bodies WHERE team = '${TEAM}' AND size IS NOT NULL AND project = '${nameProject(7)}' ORDER BY worked_at DESC, name DESC LIMIT 20`,
  'by the beginning of an id': `SELECT name, title FROM ${S}.bodies WHERE team = '${TEAM}' AND size IS NOT NULL AND handover >= '20251201-12' AND handover < '20251201-12~' ORDER BY handover DESC LIMIT 20`,
  'state of a task': `SELECT * FROM ${S}.custody WHERE team = '${TEAM}' AND task = 'task-77'`,
};
/** What functions of the owner run. */
const OWNER_PLANS = {
  'search, a common word': `SELECT name FROM ${S}.bodies b WHERE b.team = '${TEAM}' AND b.size IS NOT NULL AND b.words IS NOT NULL AND b.words @@ '''w3'''::tsquery ORDER BY b.worked_at DESC, b.name DESC LIMIT 60`,
  'search, a rare word': `SELECT name FROM ${S}.bodies b WHERE b.team = '${TEAM}' AND b.size IS NOT NULL AND b.words IS NOT NULL AND b.words @@ '''w15000'''::tsquery ORDER BY b.worked_at DESC, b.name DESC LIMIT 60`,
  'oldest open task': `SELECT c.task FROM ${S}.custody c WHERE c.team = '${TEAM}' AND c.state IN ('offered', 'released') AND (c.state = 'released' OR c.to_name IS NULL OR c.to_name = 'me') ORDER BY c.offered_at, c.task LIMIT 1 FOR UPDATE SKIP LOCKED`,
  'oldest open task of a project and a label': `SELECT c.task FROM ${S}.custody c WHERE c.team = '${TEAM}' AND c.state IN ('offered', 'released') AND (c.state = 'released' OR c.to_name IS NULL OR c.to_name = 'me') AND c.project = '${nameProject(7)}' AND c.label = 'l2' ORDER BY c.offered_at, c.task LIMIT 1 FOR UPDATE SKIP LOCKED`,
  'oldest open task with a label': `SELECT c.task FROM ${S}.custody c WHERE c.team = '${TEAM}' AND c.state IN ('offered', 'released') AND (c.state = 'released' OR c.to_name IS NULL OR c.to_name = 'me') AND c.label = 'rare' ORDER BY c.offered_at, c.task LIMIT 1 FOR UPDATE SKIP LOCKED`,
  'leases that are over': `SELECT c.task FROM ${S}.custody c WHERE c.team = '${TEAM}' AND c.state = 'held' AND c.until < now() ORDER BY c.offered_at, c.task LIMIT 1 FOR UPDATE SKIP LOCKED`,
};

/** @param {string} url @param {Record<string, string>} statements */
async function printPlans(url, statements) {
  const client = await connect(url);
  for (const [what, sql] of Object.entries(statements)) {
    const { rows } = await client.query(`EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ${sql}`);
    console.log(`\n${what}:\n${rows.map((row) => `  ${row['QUERY PLAN']}`).join('\n')}`);
  }
  await client.end();
}

const remote = await open(ownerUrl);
await remote.listLogs();
await remote.close();
const owner = await connect(ownerUrl);
await owner.query(`SELECT ${S}.admit($1, $2)`, [new URL(memberUrl).username, TEAM]);
let filled = Number((await owner.query(`SELECT count(*) FROM ${S}.custody`)).rows[0]?.count ?? 0);
for (const size of sizes) {
  if (filled < size) await fill(owner, filled, size);
  filled = Math.max(filled, size);
  console.log(`${size} handovers and tasks:`);
  await measureSync();
  await measureSearch();
  await measureTakes();
}
if (rest.includes('--plans')) {
  await printPlans(memberUrl, PLANS);
  await printPlans(ownerUrl, OWNER_PLANS);
}
await owner.end();
