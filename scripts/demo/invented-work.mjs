// Six weeks of invented work on two projects, by three agents and a person: for pictures of the report.
import { computeFactId, openStore, saveHandover, sealHandover } from '../../dist/internals/index.mjs';

const START = Date.UTC(2026, 9, 8);
const [DAY, HOUR] = [86_400_000, 3_600_000];

const PROJECTS = [
  { id: 'p-5h0p5h0p5h0p5h0p', name: 'shop', remote: 'git.example.org/team/shop' },
  { id: 'p-b111b111b111b111', name: 'billing', remote: 'git.example.org/team/billing' },
];

/** What was worked on: the request, what was settled, and the files. */
const STORIES = [
  [
    'Retry the payment call when the gateway answers 502',
    'Retry only 502 and 503, three times, with jitter',
    'Retry on 500: orders were charged twice',
    'src/checkout.ts src/gateway.ts test/checkout.test.ts',
  ],
  [
    'Move the tax table out of the code',
    'The table is JSON, checked when the service starts',
    'A database table: it changes twice a year',
    'src/tax.ts data/tax.json src/checkout.ts',
  ],
  [
    'Why does the basket lose its items after a login?',
    'The basket is kept by session, and joined at login',
    '',
    'src/basket.ts src/session.ts test/basket.test.ts',
  ],
  [
    'Invoices have a gap in their numbers',
    'Numbers are taken in the transaction that writes the invoice',
    'A sequence: it has gaps after a rollback',
    'src/invoices.ts src/database.ts test/invoices.test.ts',
  ],
  [
    'Add idempotency keys to orders',
    'The client makes the key, and it lives for a day',
    'A hash of the basket as the key: two equal orders are legal',
    'src/orders.ts src/checkout.ts docs/orders.md',
  ],
  [
    'The nightly export takes four hours; make it faster',
    'Export as a stream, one file a day',
    'A second worker: the database is the limit',
    'src/export.ts src/database.ts',
  ],
  [
    'Show prices in the currency of the customer',
    'Rates are fetched once an hour and kept with the order',
    '',
    'src/prices.ts src/rates.ts src/checkout.ts test/prices.test.ts',
  ],
  [
    'Make the checkout usable with a keyboard',
    'The steps are one form with headings, not tabs',
    'A modal for the address: focus was lost on phones',
    'src/pages/checkout.html src/pages/checkout.css',
  ],
  [
    'Upgrade the database driver to version 9',
    'Use the pool of the driver, not ours',
    '',
    'package.json src/database.ts',
  ],
  [
    'Send a reminder when an invoice is a week late',
    'One reminder, then a person decides',
    'Remind every week: support had complaints',
    'src/reminders.ts src/mail.ts',
  ],
  [
    'Search finds nothing for words with accents',
    'Fold accents when indexing and when asking',
    '',
    'src/search.ts test/search.test.ts',
  ],
  [
    'Log less: the disk of the shop is full every Sunday',
    'Requests are logged once, at their end',
    'Sampling: the one that is needed is missing',
    'src/log.ts src/server.ts',
  ],
  [
    'Refunds must not exceed what was paid',
    'Checked in the database, not in the page',
    '',
    'src/refunds.ts src/database.ts test/refunds.test.ts',
  ],
  [
    'The address form rejects Irish postcodes',
    'Postcodes are checked by the carrier, we only trim them',
    'A pattern for each country: it was wrong three times',
    'src/address.ts test/address.test.ts',
  ],
  ['Ship the size guide as a page of its own', 'Static, built with the shop', '', 'src/pages/sizes.html src/build.ts'],
];
const AGENTS = ['claude-code', 'claude-code', 'codex', 'claude-code', 'gemini', 'codex'];
/** What the last session has left. */
const LEFT = [
  ['next', 'Write the test for a gateway that answers 503 twice, then 200'],
  ['next', 'Ask Ines whether refunds of gift cards are paid out'],
  ['task', 'Measure the checkout with 200 orders a minute', 'in_progress'],
  ['task', 'Tell support what changes for late invoices', 'pending'],
  ['error', 'AssertionError: expected 3 calls of the gateway, got 4 (test/checkout.test.ts:88)', 'open'],
];
const CHECKS = ['npm test', 'npm run build', 'npm run lint'];
const COUNT = 45;

/** @param {{ env: Record<string, string | undefined>, home: string, cwd: string }} surroundings */
export function writeInventedWork({ env, home, cwd }) {
  const random = makeRandom();
  const ids = [];
  /** The end of a branch, by project. */
  const left = new Map();
  for (let at = 0; at < COUNT; at++) {
    const now = timeOf(at);
    const project = at % 7 === 3 || at % 11 === 8 ? 1 : 0;
    const isByHand = at % 15 === 9;
    const earlier = ids.filter((known) => known.project === project && !known.isByHand);
    const last = earlier.at(-1);
    // Now and then two sessions go on from the same work; later the two lines are merged. Notes are taken in.
    const isBranch = at % 9 === 6 && earlier.length > 1;
    if (isBranch && last !== undefined) left.set(project, last);
    const other = at % 9 === 7 && !isByHand ? left.get(project) : undefined;
    if (other !== undefined) left.delete(project);
    const previous = (isBranch ? earlier.at(-2) : last)?.id ?? null;
    const note = ids.findLast((known) => known.isByHand && known.project === project && !known.isTaken);
    if (note !== undefined && !isByHand) note.isTaken = true;
    const joined = isByHand ? undefined : (other ?? note)?.id;
    const session = isByHand ? null : other === undefined ? `s-${at}` : (last?.session ?? null);
    const agent = isByHand ? 'manual' : (AGENTS[Math.floor(random() * AGENTS.length)] ?? '');
    const machine = {
      clock: { now: () => now },
      random: makeBytes(random),
      env,
      platform: process.platform,
      home,
      cwd,
    };
    const facts = describeWork(at, { isByHand, isLast: at === COUNT - 1, random });
    const draft = {
      ...{ schema: /** @type {const} */ ('handover/1'), expires_at: null, project: PROJECTS[project] ?? PROJECTS[0] },
      session: {
        ...{ agent, id: session, terminal: null, model: null, transcript: null },
        ...{ started_at: new Date(now - 2 * HOUR).toISOString(), last_at: new Date(now).toISOString() },
      },
      workspace: { root: `~/${PROJECTS[project]?.name}`, folder: '', worktree: null, git: null },
      ...{ title: facts[0]?.text ?? '', summary: '', facts, previous: isByHand ? null : previous },
      ...(joined === undefined ? {} : { chain: { carried: 0, resolved: [], superseded: [], dropped: [], joined } }),
      ...{ quality: null, redactions: [] },
    };
    const { handover } = saveHandover(openStore(machine), (stamp) => sealHandover({ ...draft, ...stamp }));
    ids.push({ id: handover.id, session, project, isByHand, isTaken: false });
  }
}

/** In the daytime, and more and more often. */
function timeOf(at) {
  const days = 39.7 - 39.7 * ((COUNT - 1 - at) / COUNT) ** 1.5;
  const minutes = Math.round((days % 1) * 60 * 10);
  return START + Math.floor(days) * DAY + 8 * HOUR + minutes * 60_000;
}

/** @param {number} at @param {{ isByHand: boolean, isLast: boolean, random: () => number }} how */
function describeWork(at, { isByHand, isLast, random }) {
  const [goal, decision, rejected, files] = STORIES[at % STORIES.length] ?? ['', '', '', ''];
  const of = (kind, text, more = {}) => ({
    ...{ id: computeFactId(kind, text), kind, text, trust: 'quoted', origin: 'human' },
    ...{ sources: [{ line: 10 + Math.floor(random() * 900) }], ...more },
  });
  const isFirst = at < 3 * STORIES.length && Math.floor(at / STORIES.length) === at % 3;
  const declared = { trust: 'declared', sources: [] };
  if (isByHand) return [of('goal', `Note: ${goal}`, declared), of('next', `Ask the team: ${decision}`, declared)];
  const seen = { trust: 'observed', origin: 'tool' };
  return [
    of('goal', goal, { detail: { role: 'current', message: 1 } }),
    ...(isFirst ? [of('decision', decision, { detail: { role: 'answer' } })] : []),
    ...(isFirst && rejected !== '' ? [of('rejected', rejected, { detail: { role: 'answer' } })] : []),
    ...files
      .split(' ')
      .filter(() => random() < 0.8)
      .map((path) => of('file', path, { ...seen, status: 'edited' })),
    of('file', 'README.md', { ...seen, status: 'read' }),
    ...CHECKS.slice(0, 1 + Math.floor(random() * 3)).map((text) =>
      of('check', text, { ...seen, status: random() < 0.14 ? 'failed' : 'ok' }),
    ),
    ...(isLast
      ? LEFT.map(([kind, text, status]) => of(kind, text, status === undefined ? declared : { ...seen, status }))
      : []),
  ];
}

function makeRandom(seed = 7) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** @param {() => number} random */
function makeBytes(random) {
  return {
    bytes: (/** @type {number} */ count) => Uint8Array.from({ length: count }, () => Math.floor(random() * 256)),
  };
}
