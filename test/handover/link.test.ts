import { describe, expect, it } from 'vitest';
import { linkHandover } from '../../src/handover/link.ts';
import type { Fact } from '../../src/model/fact.ts';
import type { Chain, Handover, UnstampedDraft } from '../../src/model/handover.ts';
import type { GitFacts } from '../../src/model/workspace.ts';
import { DECLARED, HUMAN, makeDraft, makeFact, OBSERVED, sealDraft } from '../support/facts.ts';

const { session } = makeDraft([]);
const SECOND: Partial<UnstampedDraft> = { session: { ...session, id: 's-2' } };
const THIRD: Partial<UnstampedDraft> = { session: { ...session, id: 's-3' } };

function follow(previous: Handover, draft: UnstampedDraft, byHand: Handover | null = null): UnstampedDraft {
  return linkHandover(draft, { previous, byHand });
}

function textsOf({ facts }: { facts: readonly Fact[] }): string[] {
  return facts.map((fact) => fact.text);
}

/** What is recorded of one fact. */
function fateOf(chain: Chain | undefined, { id }: Fact): unknown {
  const { resolved = [], superseded = [], dropped = [] } = chain ?? {};
  const found = [
    ...resolved.filter(({ ids }) => ids.includes(id)).map(({ reason }) => ['resolved', reason]),
    ...superseded.filter((one) => one.id === id).map(({ by, reason }) => ['superseded', reason, by]),
    ...dropped.filter(({ ids }) => ids.includes(id)).map(({ reason }) => ['dropped', reason]),
  ];
  return found.length === 0 ? ['carried'] : found.flat();
}

/** The outcome of one fact when the same session, or another one, is read later and gives these facts. */
function findOutcome(fact: Fact, later: Fact[], parts: Partial<UnstampedDraft> = {}): unknown {
  return fateOf(follow(sealDraft(makeDraft([fact])), makeDraft(later, parts)).chain, fact);
}

const message = (text: string, number: number, parts: Partial<Fact> = {}): Fact =>
  makeFact('note', text, {
    ...HUMAN,
    sources: [{ line: number * 10 }],
    detail: { role: 'message', message: number },
    ...parts,
  });
const request = (text: string, number = 1): Fact =>
  makeFact('goal', text, {
    ...HUMAN,
    sources: [{ line: number * 10 }],
    detail: { role: 'current', message: number },
  });
const run = (status: string): Fact =>
  makeFact('check', 'npm test', { ...OBSERVED, status, detail: { stem: 'npm test' } });

describe('the outcome of a fact in the next handover', () => {
  it('is carried when the fact is there again', () => {
    const fact = makeFact('note', 'The cache is warm.');
    expect(findOutcome(fact, [makeFact('note', 'the cache  is warm')])).toEqual(['carried']);
  });

  it('of a task is resolved when done, superseded when changed, dropped when it left the plan', () => {
    const task = (status: string): Fact => makeFact('task', 'Test it', { ...OBSERVED, status });
    expect(findOutcome(task('pending'), [task('completed')])).toEqual(['resolved', 'completed']);
    expect(findOutcome(task('in_progress'), [task('cancelled')])).toEqual(['resolved', 'cancelled']);
    expect(findOutcome(task('pending'), [task('in_progress')])).toEqual([
      'superseded',
      'pending, now in_progress',
      task('pending').id,
    ]);
    expect(findOutcome(task('completed'), [task('completed')])).toEqual(['carried']);
    expect(findOutcome(task('pending'), [])).toEqual(['dropped', 'taken out of the plan']);
    expect(findOutcome(task('completed'), [], SECOND)).toEqual(['dropped', 'planned in an earlier session']);
  });

  it('of an open task is carried into later sessions, until one of them completes it', () => {
    const task = (text: string, status = 'pending'): Fact => makeFact('task', text, { ...OBSERVED, status });
    const [open, other] = [task('Test it'), task('Sort it')];
    const second = sealDraft(follow(sealDraft(makeDraft([open, other])), makeDraft([], SECOND)));
    expect(textsOf(second)).toEqual(['Test it', 'Sort it']);
    const again = follow(second, makeDraft([makeFact('note', 'later')], SECOND));
    expect(textsOf(again)).toEqual(['later', 'Test it', 'Sort it']);
    const own = follow(second, makeDraft([task('Test it', 'completed'), task('Ship it')], THIRD));
    expect(textsOf(own)).toEqual(['Test it', 'Ship it', 'Sort it']);
    expect(fateOf(own.chain, open)).toEqual(['resolved', 'completed']);
    expect(fateOf(own.chain, other)).toEqual(['carried']);
  });

  it('of an error is resolved by a later success, superseded by another failure', () => {
    const error = makeFact('error', 'TypeError: no', { ...OBSERVED, detail: { command: 'npm test' } });
    expect(findOutcome(error, [run('ok')])).toEqual(['resolved', 'the command succeeded later']);
    expect(findOutcome(error, [run('failed')])).toEqual([
      'superseded',
      'the command fails in another way',
      run('failed').id,
    ]);
    expect(findOutcome({ ...error, status: 'open' }, [{ ...error, status: 'closed' }])).toEqual([
      'resolved',
      'the command succeeded later',
    ]);
    expect(findOutcome(error, [])).toEqual(['dropped', 'not among the facts kept any more']);
    const ofOne = { ...error, detail: { command: 'npm test', run: 'npm test -- a' } };
    const other = { ...run('ok'), text: 'npm test -- b' };
    expect(findOutcome(ofOne, [other])).toEqual(['dropped', 'not among the facts kept any more']);
    expect(findOutcome(ofOne, [run('ok')])).toEqual(['resolved', 'the command succeeded later']);
  });

  it('of a check or file with a new status is superseded', () => {
    expect(findOutcome(run('failed'), [run('ok')])).toEqual(['superseded', 'failed, now ok', run('ok').id]);
    const file = (status: string): Fact => makeFact('file', 'a.ts', { ...OBSERVED, status });
    expect(findOutcome(file('read'), [file('edited')])).toEqual(['superseded', 'read, now edited', file('read').id]);
  });

  it('of a request is carried; of one that says nothing by itself only until there is another', () => {
    const [first, second, bare] = [request('Make the upload retry'), request('Now write it', 2), request('go on')];
    const again = message('Make the upload retry', 1);
    expect(findOutcome(first, [again, second])).toEqual(['superseded', 'now told as a note', again.id]);
    expect(findOutcome(first, [second], SECOND)).toEqual(['carried']);
    expect(findOutcome(bare, [], SECOND)).toEqual(['carried']);
    for (const text of ['go on', '/review', 'Does it retry?'])
      expect(findOutcome(request(text), [second], SECOND)).toEqual(['superseded', 'a newer request', second.id]);
  });

  it('of an answer is superseded by a newer answer to the same question', () => {
    const answer = (text: string): Fact => makeFact('decision', text, { ...HUMAN, detail: { role: 'answer' } });
    const [old, now] = [answer('Which queue? → Redis'), answer('Which queue? → Rabbit')];
    for (const session of [{}, SECOND]) {
      expect(findOutcome(old, [now], session)).toEqual(['superseded', 'a newer answer', now.id]);
      expect(findOutcome(old, [answer('Which port? → 80')], session)).toEqual(['carried']);
    }
  });

  it('of a question or blocker is resolved once the user answered, of running work once it ended', () => {
    const question = makeFact('question', 'Which port?', { sources: [{ line: 15 }] });
    expect(findOutcome(question, [message('8080', 2)])).toEqual(['resolved', 'the user has spoken since']);
    expect(findOutcome(question, [message('Before that', 1)])).toEqual([
      'dropped',
      'not among the facts kept any more',
    ]);
    const stopped = makeFact('blocker', 'the session was stopped: limit', { ...OBSERVED, status: 'open' });
    expect(findOutcome(stopped, [])).toEqual(['resolved', 'the session went on']);
    expect(findOutcome(stopped, [], SECOND)).toEqual(['dropped', 'of an earlier session']);
    const running = makeFact('running', 'npm run dev', { ...OBSERVED, status: 'unfinished' });
    expect(findOutcome(running, [])).toEqual(['resolved', 'ended']);
    expect(findOutcome(running, [], SECOND)).toEqual(['dropped', 'of an earlier session']);
  });

  it('of running work is carried into other sessions while its process is known, until that has ended', () => {
    const identity = { probe: { process: 'a process', port: 8080 } };
    const running = makeFact('running', 'npm run dev', { ...OBSERVED, ...identity, status: 'unfinished' });
    expect(findOutcome(running, [])).toEqual(['resolved', 'ended']);
    const second = sealDraft(follow(sealDraft(makeDraft([running])), makeDraft([], SECOND)));
    expect(second.facts).toMatchObject([{ text: 'npm run dev', ...identity }]);
    expect(textsOf(follow(second, makeDraft([], SECOND)))).toEqual(['npm run dev']);
    const ended = { ...second, facts: second.facts.map((fact) => ({ ...fact, status: 'ended' })) };
    expect(fateOf(follow(ended, makeDraft([], THIRD)).chain, running)).toEqual(['resolved', 'ended']);
  });

  it('of a next step, a mention or the last message is superseded by newer ones', () => {
    const next = makeFact('next', 'The next step is b.');
    expect(findOutcome(makeFact('next', 'The next step is a.'), [next])).toEqual([
      'superseded',
      'a newer next step',
      next.id,
    ]);
    const about = (text: string): Fact => makeFact('reference', text, { detail: { about: 'E42' } });
    expect(findOutcome(about('E42 at start'), [about('E42 is gone')])).toEqual([
      'superseded',
      'a newer mention',
      about('E42 is gone').id,
    ]);
    const link = (text: string): Fact => makeFact('reference', text, { detail: { about: 'link' } });
    expect(findOutcome(link('https://a.example'), [link('https://b.example')], SECOND)).toEqual([
      'dropped',
      'of an earlier session',
    ]);
    const stopped = (text: string): Fact => makeFact('note', text, { detail: { role: 'stopped' } });
    expect(findOutcome(stopped('I stop here'), [stopped('I stop there')])).toEqual([
      'superseded',
      'later words',
      stopped('I stop there').id,
    ]);
  });

  it('of a file is dropped when it is deleted, or no longer differs from the last commit', () => {
    const file = makeFact('file', 'a.ts', { ...OBSERVED, status: 'edited' });
    const git = {
      branch: 'main',
      head: null,
      upstream: null,
      ahead: null,
      behind: null,
      operation: null,
      staged: [],
      unstaged: [],
      untracked: [],
      conflicted: [],
      changed_total: 0,
      changed_cut: false,
      commits: [],
    };
    const { workspace } = makeDraft([]);
    const inFolder = (parts: Partial<GitFacts>): Partial<UnstampedDraft> => ({
      ...SECOND,
      workspace: { ...workspace, folder: 'app', git: { ...git, ...parts } },
    });
    expect(findOutcome(file, [], inFolder({}))).toEqual(['dropped', 'no longer changed in the working tree']);
    expect(findOutcome(file, [], inFolder({ changed_cut: true }))).toEqual(['dropped', 'of an earlier session']);
    const isOpen = { probe: { path: 'a.ts', sha256: null, todos: ['// TODO: round'] } };
    const changed = { unstaged: [{ path: 'app/a.ts', change: 'modified' as const }], changed_total: 1 };
    expect(findOutcome({ ...file, ...isOpen }, [], inFolder(changed))).toEqual(['carried']);
    expect(findOutcome(file, [], inFolder(changed))).toEqual(['dropped', 'of an earlier session']);
    const deleted = { path: 'app/a.ts', change: 'deleted' as const };
    const draft = makeDraft([], {
      ...SECOND,
      workspace: { ...workspace, folder: 'app', git: { ...git, unstaged: [deleted] } },
    });
    expect(fateOf(follow(sealDraft(makeDraft([file])), draft).chain, file)).toEqual(['dropped', 'deleted']);
  });
});

describe('a rewind of the session', () => {
  const kept = message('Make the upload retry', 1);
  const rule = makeFact('constraint', 'Never retry on 404', {
    ...HUMAN,
    sources: [{ line: 20 }],
    detail: { role: 'message', message: 2 },
  });
  const said = makeFact('decision', 'We use a queue.', { sources: [{ line: 25 }], detail: { role: 'answer' } });
  const before = makeFact('decision', 'We use backoff.', { sources: [{ line: 12 }], detail: { role: 'answer' } });

  it('drops the rewound message and what followed it, and nothing else', () => {
    const previous = sealDraft(makeDraft([kept, rule, said, before]));
    const linked = follow(previous, makeDraft([kept, request('Do it another way', 3)]));
    expect(fateOf(linked.chain, rule)).toEqual(['dropped', 'rewound by the user']);
    expect(fateOf(linked.chain, said)).toEqual(['dropped', 'rewound by the user']);
    expect(textsOf(linked)).toEqual(['Make the upload retry', 'Do it another way', 'We use backoff.']);
  });

  it('is not assumed when the transcript now begins later', () => {
    const previous = sealDraft(makeDraft([kept, rule, said, before]));
    const linked = follow(previous, makeDraft([request('Do it another way', 3)]));
    expect(textsOf(linked)).toEqual([
      'Do it another way',
      'Never retry on 404',
      'We use a queue.',
      'We use backoff.',
      'Make the upload retry',
    ]);
  });

  it('is not assumed when a message now has another kind', () => {
    const asked = request('Never retry on 404, please', 2);
    const ruled = makeFact('constraint', asked.text, {
      ...HUMAN,
      sources: [{ line: 20 }],
      detail: { role: 'message', message: 2 },
    });
    const linked = follow(sealDraft(makeDraft([kept, asked, said])), makeDraft([kept, ruled, request('Go on now', 3)]));
    expect(fateOf(linked.chain, asked)).toEqual(['superseded', 'now told as a constraint', ruled.id]);
    expect(fateOf(linked.chain, said)).toEqual(['carried']);
  });
});

describe('facts carried into the next handover', () => {
  const rule = makeFact('constraint', 'Never retry on 404', {
    ...HUMAN,
    sources: [{ line: 7 }],
    detail: { role: 'message', message: 2, points: 400, names: { retry: 3 } },
  });

  it('are unchanged, with the session that they come from', () => {
    const linked = follow(sealDraft(makeDraft([rule])), makeDraft([], SECOND));
    expect(linked.facts).toEqual([{ ...rule, sources: [{ session: 's-1', line: 7 }], detail: { points: 400 } }]);
    expect(linked.chain).toEqual({ carried: 1, resolved: [], superseded: [], dropped: [] });
  });

  it('include a rule that was the last request, as a rule', () => {
    const asked = request('Never retry on 404, and log the rest', 2);
    const newer = request('Now write the tests');
    const linked = follow(sealDraft(makeDraft([asked])), makeDraft([newer], SECOND));
    expect(linked.facts.map(({ kind, text }) => [kind, text])).toEqual([
      ['goal', newer.text],
      ['constraint', asked.text],
    ]);
    expect(fateOf(linked.chain, asked)).toEqual(['superseded', 'now told as a constraint', linked.facts[1]?.id]);
  });

  it('V2-14: reach from the first session into the third and beyond', () => {
    const line = [sealDraft(makeDraft([rule]))];
    for (const id of ['s-2', 's-3', 's-4', 's-5']) {
      const previous = line.at(-1);
      if (previous === undefined) throw new Error('there is none');
      line.push(sealDraft(follow(previous, makeDraft([makeFact('note', id)], { session: { ...session, id } }))));
    }
    for (const [at, handover] of line.entries()) {
      expect(handover.facts.find((fact) => fact.id === rule.id)?.text).toBe('Never retry on 404');
      expect(handover.previous).toBe(line[at - 1]?.id ?? null);
    }
    expect(line.at(-1)?.facts.at(-1)?.sources).toEqual([{ session: 's-1', line: 7 }]);
  });

  it('are settled decisions, declared and pinned facts; not passing remarks or guesses', () => {
    const facts = [
      makeFact('decision', 'We use backoff.', { detail: { role: 'answer' } }),
      makeFact('rejected', 'A queue was rejected.', DECLARED),
      makeFact('decision', 'We guess that we use a cache.'),
      makeFact('note', 'Ask Ann first', DECLARED),
      makeFact('note', 'Pinned', { pinned: true }),
      makeFact('blocker', 'No key for the API', DECLARED),
      makeFact('note', 'In passing'),
      makeFact('note', 'A word of Ann', {
        ...{ trust: 'imported', origin: 'import' },
        detail: { told: { trust: 'declared', origin: 'human', by: 'ann' } },
      }),
    ];
    const linked = follow(sealDraft(makeDraft(facts)), makeDraft([], SECOND));
    expect(textsOf(linked)).toEqual([
      'Pinned',
      'A queue was rejected.',
      'Ask Ann first',
      'No key for the API',
      'We use backoff.',
      'A word of Ann',
    ]);
  });

  it('stay until done, or until another is declared', () => {
    const [next, goal] = [makeFact('next', 'Write the tests', DECLARED), makeFact('goal', 'Ship 2.0', DECLARED)];
    const done = makeFact('task', 'Write the tests', { ...OBSERVED, status: 'completed' });
    expect(findOutcome(next, [done], SECOND)).toEqual(['resolved', 'completed as a task']);
    const both = follow(sealDraft(makeDraft([next, done])), makeDraft([done], SECOND));
    expect(fateOf(both.chain, next)).toEqual(['carried']);
    const rule = makeFact('constraint', 'Write the tests', DECLARED);
    expect(findOutcome(rule, [done], SECOND)).toEqual(['carried']);
    expect(findOutcome(next, [makeFact('next', 'The next step is b.')], SECOND)).toEqual(['carried']);
    expect(findOutcome(goal, [request('Fix the parser first')], SECOND)).toEqual(['carried']);
    const newer = makeFact('next', 'Release it', DECLARED);
    expect(findOutcome(next, [newer], SECOND)).toEqual(['superseded', 'a newer next', newer.id]);
  });

  it('keep what a file holds where a later session only read it', () => {
    const sha256 = 'a'.repeat(64);
    const held = { path: 'a.ts', sha256, names: ['total'], todos: ['// TODO: round'] };
    const edited = makeFact('file', 'a.ts', { ...OBSERVED, status: 'edited', detail: { edits: 1 }, probe: held });
    const read = (now: string): Fact =>
      makeFact('file', 'a.ts', { ...OBSERVED, status: 'read', probe: { path: 'a.ts', sha256: now } });
    const linkAfter = (now: string): unknown =>
      follow(sealDraft(makeDraft([edited])), makeDraft([read(now)], SECOND)).facts;
    expect(linkAfter(sha256)).toMatchObject([{ status: 'read', probe: held }]);
    expect(linkAfter('b'.repeat(64))).toEqual([read('b'.repeat(64))]);
  });

  it('include facts saved by hand since', () => {
    const byHand = sealDraft(
      makeDraft([makeFact('decision', 'Use port 8080', DECLARED), makeFact('next', 'Release it', DECLARED)], {
        session: { ...session, agent: 'manual', id: null },
      }),
    );
    const previous = sealDraft(makeDraft([rule, makeFact('next', 'Write the tests', DECLARED)]));
    const linked = follow(previous, makeDraft([], SECOND), byHand);
    expect(textsOf(linked)).toEqual(['Use port 8080', 'Release it', 'Never retry on 404']);
    expect(linked).toMatchObject({ previous: previous.id, chain: { joined: byHand.id, carried: 3 } });
    expect(linked.facts[0]?.sources).toEqual([{ ref: byHand.id }]);
  });

  it('keep their pin, and their trust where an agent only repeats them', () => {
    const pinned = makeFact('note', 'Ask Ann first', { ...DECLARED, pinned: true });
    const again = follow(sealDraft(makeDraft([{ ...rule, pinned: true }, pinned])), {
      ...makeDraft([{ ...rule, trust: 'quoted' }, makeFact('note', 'ask ann first.')], SECOND),
    });
    expect(again.facts.map(({ pinned, trust }) => [pinned, trust])).toEqual([
      [true, 'quoted'],
      [true, 'declared'],
    ]);
  });

  it.each([
    ['Never retry on 404', true],
    ['Good. Please always run the linter first', true],
    ["Don't touch the generated files", true],
    ['You must not push to main', true],
    ['From now on, write the tests before the code', true],
    ['No new dependencies', true],
    ['Verwende niemals die alte Schnittstelle', true],
    ['不要修改生成的文件。', true],
    ['必ずテストを書いてください', true],
    ['不要吗？', false],
    ['can we use checkpointID instead of cpID in session.go', false],
    ["I don't like turn, any other suggestions?", false],
    ['it somehow always lists these under each branch', false],
    ['should we always warn?', false],
  ])('go into another session only if they state a rule: %s', (text, stands) => {
    const said = makeFact('constraint', text, HUMAN);
    expect(findOutcome(said, [], SECOND)).toEqual(stands ? ['carried'] : ['dropped', 'of an earlier session']);
    expect(findOutcome(said, [])).toEqual(['carried']);
  });

  it('are limited in number, and the rest is reported', () => {
    const said = Array.from({ length: 50 }, (_, at) =>
      makeFact('decision', `We use number ${at}.`, { detail: { role: 'answer' } }),
    );
    const linked = follow(sealDraft(makeDraft([...said, rule])), makeDraft([], SECOND));
    expect(textsOf(linked)).toEqual(['Never retry on 404', ...said.slice(0, 30).map((fact) => fact.text)]);
    const noRoom = (facts: Fact[]): unknown => [
      { reason: 'no room among what is taken over', ids: facts.map((fact) => fact.id) },
    ];
    expect(linked.chain?.dropped).toEqual(noRoom(said.slice(30)));
    const declared = Array.from({ length: 120 }, (_, at) => makeFact('note', `Number ${at}`, DECLARED));
    const full = follow(sealDraft(makeDraft([...declared, rule])), makeDraft([], SECOND));
    expect(textsOf(full)).toEqual(declared.slice(0, 100).map((fact) => fact.text));
    expect(full.chain?.dropped).toEqual(noRoom([...declared.slice(100), rule]));
  });
});
