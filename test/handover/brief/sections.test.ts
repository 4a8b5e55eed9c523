import { describe, expect, it } from 'vitest';
import { compileBrief } from '../../../src/handover/brief/compile.ts';
import type { Fact } from '../../../src/model/fact.ts';
import { HUMAN, makeDraft, makeFact, OBSERVED, sealDraft } from '../../support/facts.ts';
import { readSection, renderSession, requireReader } from '../../support/rendered.ts';
import {
  agent,
  answer,
  done,
  edit,
  fail,
  inBackground,
  interruption,
  limit,
  other,
  plan,
  run,
  type Step,
  scriptSession,
  user,
} from '../../support/scripted-session.ts';

const first = user('Make the upload retry when the server is busy');
const second = user('Now write a page about the retry in the manual');

function section(heading: string, ...steps: Step[]): string[] {
  return readSection(renderSession(scriptSession(...steps)).text, heading);
}

function sectionOf(heading: string, ...facts: Fact[]): string[] {
  return readSection(compileBrief(sealDraft(makeDraft(facts)), requireReader('generic')).text, heading);
}

describe('the section about the user', () => {
  it('has the current request, what came after it, and the first one', () => {
    expect(section('The user', first, agent('It tries again.'), second, agent('I begin.'), user('ok'))).toEqual([
      'Now: "Now write a page about the retry in the manual"',
      'Then: "ok"',
      'First: "Make the upload retry when the server is busy"',
    ]);
  });

  it('has a single request once', () => {
    expect(section('The user', first, agent('It tries again.'))).toEqual([
      'Now: "Make the upload retry when the server is busy"',
    ]);
  });

  it('says what a short message answers', () => {
    const asking = agent('Two ways are open.\n\n1. Wait for a fixed time\n2. Wait longer each time\n\nWhich one?');
    expect(section('The user', first, asking, user('2'))).toEqual([
      'Now: "Make the upload retry when the server is busy"',
      'Then: "2"',
      '  in answer to: 2. Wait longer each time Which one?',
    ]);
  });

  it('says where a request is not the user’s', () => {
    expect(section('The user', other('team-lead', 'Take the tests of the upload, please'))).toEqual([
      'Now (from team-lead, not the user): "Take the tests of the upload, please"',
    ]);
  });

  it('leaves out logs that were pasted into a long request', () => {
    const log = Array.from({ length: 40 }, (_, at) => `2026-01-31 12:00:${at} upload failed with status 503`).join(
      '\n',
    );
    const [line = ''] = section(
      'The user',
      user(`The upload fails at night, look at this:\n${log}\nMake it try again.`),
    );
    expect(line).toContain('The upload fails at night');
    expect(line).toContain('Make it try again.');
    expect(line).not.toContain('status 503');
  });

  it('has the rules of earlier sessions', () => {
    const rule = makeFact('constraint', 'Never retry on 404', { ...HUMAN, sources: [{ session: 's-0', line: 7 }] });
    expect(sectionOf('The user', rule)).toEqual(['- "Never retry on 404" (of an earlier session)']);
  });
});

describe('the section about what is next', () => {
  it('says that the request was answered, and how the answer ends', () => {
    expect(section('Next and open', first, run('npm test'), agent('It tries again.\n\nAll tests pass.'))[0]).toBe(
      'Next: the request was answered ("Make the upload retry when the server is busy"). The agent\'s answer ends: It tries again. All tests pass.',
    );
  });

  it('says that the user is to answer, and what', () => {
    expect(section('Next and open', first, agent('It tries again. Shall I commit it?'))).toEqual([
      'Next: the user is to answer ("Make the upload retry when the server is busy"). The agent\'s answer ends: It tries again. Shall I commit it?',
      'Asked, not answered yet: Shall I commit it?',
    ]);
  });

  it('says what to go on with, the last words and the last call', () => {
    expect(section('Next and open', first, agent('I run the tests now.'), run('npm test'))).toEqual([
      'Next: go on with "Make the upload retry when the server is busy". The agent\'s last words: I run the tests now.',
      '  its last call: tool {"command": "npm test"}',
    ]);
  });

  it('says that a request is to be answered which nobody worked on', () => {
    expect(section('Next and open', first, agent('It tries again.'), second)).toEqual([
      'Next: answer "Now write a page about the retry in the manual"',
    ]);
  });

  it('has what stopped the session, and the open tasks', () => {
    const tasks = plan(
      { text: 'Write it', status: 'pending', id: '2' },
      { text: 'Test it', status: 'in_progress', id: '1', detail: 'with a slow server' },
      { text: 'Read it', status: 'completed', id: '0' },
      { text: 'Rewrite it', status: 'cancelled', id: '3' },
    );
    expect(section('Next and open', first, tasks, agent('I begin.'), limit('Usage limit reached'))).toEqual([
      'the session was stopped: Usage limit reached',
      expect.stringMatching(/^Next: /),
      '[in_progress] #1 Test it: with a slow server',
      '[pending] #2 Write it',
    ]);
  });
});

describe('the sections about errors and running work', () => {
  it('show a check whose last run failed, with all that it printed of it', () => {
    const output = 'FAILED tests/test_a.py::test_one - assert 1\nFAILED tests/test_a.py::test_two - assert 2';
    expect(section('Open errors', first, fail('pytest -q', output), edit('src/a.ts', 'a();'))).toEqual([
      '`pytest -q` failed, 1 calls before the end; files were edited since, not run again: FAILED tests/test_a.py::test_one - assert 1 | FAILED tests/test_a.py::test_two - assert 2',
    ]);
    expect(section('Open errors', first, fail('pytest -q', output), run('pytest -q', '2 passed'))).toEqual([]);
  });

  it('show what was started and not seen to end', () => {
    expect(section('Running in the background', first, inBackground('npm run dev', 'bash_1'), run('ls'))).toEqual([
      '`npm run dev` (started 1 calls before the end, not seen to end)',
    ]);
  });
});

describe('the section about what was settled', () => {
  it('has answers, choices and the approved plan', () => {
    const asking = agent('Two ways are open.\n\n1. Wait for a fixed time\n2. Wait longer each time\n\nWhich one?');
    const approved = done({ kind: 'propose', text: 'Add a retry to the client\nTest it with a slow server' });
    expect(section('What was settled', first, answer('How often?', 'Five times'), asking, user('2'), approved)).toEqual(
      [
        'The user chose: "2" = 2. Wait longer each time (not: 1. Wait for a fixed time)',
        'Asked "How often?" the user answered: Five times',
        'Plan approved by the user: Add a retry to the client · Test it with a slow server',
      ],
    );
  });
});

describe('what was settled in an earlier session', () => {
  it('is still shown as the user’s', () => {
    const earlier = { ...HUMAN, sources: [{ session: 's-0', line: 7 }] };
    expect(
      sectionOf(
        'What was settled',
        makeFact('decision', '"2" = 2. Wait longer each time', earlier),
        makeFact('decision', 'How often? → Five times', earlier),
      ),
    ).toEqual([
      'Asked "How often?" the user answered: Five times (of an earlier session)',
      'The user chose: "2" = 2. Wait longer each time (of an earlier session)',
    ]);
  });
});

describe('the section about the turns', () => {
  const heading = 'What happened, turn by turn';

  it('has each request with the closing words on it, the oldest first', () => {
    expect(
      section(
        heading,
        first,
        run('npm test'),
        agent('It tries again, five times at most.'),
        second,
        agent('It is there.'),
      ),
    ).toEqual([
      '- "Make the upload retry when the server is busy" → It tries again, five times at most.',
      '- "Now write a page about the retry in the manual" → It is there.',
    ]);
  });

  it('has what a turn did where the agent said nothing', () => {
    expect(section(heading, first, edit('src/upload.ts', 'a();'), second, agent('It is there.'))[0]).toBe(
      '- "Make the upload retry when the server is busy" → edited upload.ts (1)',
    );
  });

  it('has the commits of a turn', () => {
    const words = `The upload tries again. ${'It waits for two seconds between two tries. '.repeat(6)}`;
    const commit = run('git commit -m "Add a retry"', '[main 1a2b3c4] Add a retry');
    expect(section(heading, first, commit, agent(words), second, agent('It is there.'))[0]).toMatch(
      /\[committed 1a2b3c4 "Add a retry"\]$/,
    );
  });

  it('says where the user interrupted a turn', () => {
    expect(section(heading, first, agent('I read the client first.'), interruption(), second, agent('Done.'))[0]).toBe(
      '- "Make the upload retry when the server is busy" (interrupted by the user) → I read the client first.',
    );
  });

  it('leaves out of earlier answers what a later one says again', () => {
    const turns = section(
      heading,
      first,
      agent('The delay is `MAX_DELAY`, one second.\nThe status is kept as well.'),
      second,
      agent('The delay `MAX_DELAY` is two seconds now.'),
    );
    expect(turns[0]).toBe('- "Make the upload retry when the server is busy" → The status is kept as well.');
    expect(turns[1]).toContain('The delay `MAX_DELAY` is two seconds now.');
  });

  it('has the tasks that are done', () => {
    const tasks = plan({ text: 'Read it', status: 'completed' }, { text: 'Test it', status: 'pending' });
    expect(section(heading, first, tasks, agent('I go on.'))[0]).toBe('Tasks done: Read it');
  });

  it('counts the turns that have no room', () => {
    const turns = Array.from({ length: 60 }, (_, at) => [
      user(`Request number ${at} of this long day in the shop`),
      agent(`Part ${at} is done. ${'It took a while to find out why it failed. '.repeat(8)}`),
    ]).flat();
    const lines = readSection(renderSession(scriptSession(...turns), { budget: 500 }).text, heading);
    expect(lines[0]).toMatch(/^- \(\d+ turns are left out\)$/);
    expect(lines.at(-1)).toMatch(/Part 59 is done|Request number 59/);
  });
});

describe('the last steps', () => {
  it('end with the last one, and lose the oldest ones first', () => {
    const many = Array.from({ length: 30 }, (_, at) => run(`make part${at} ${'x'.repeat(100)}`));
    const brief = renderSession(scriptSession(first, ...many), { budget: 1000 }).text;
    const lines = readSection(brief, 'Last steps').filter((line) => line.startsWith('Tool:'));
    expect(lines.at(-1)).toContain('make part29');
    expect(lines.length).toBeLessThan(30);
    expect(lines[0]).toContain(`make part${30 - lines.length}`);
  });
});

describe('files and commands', () => {
  it('are listed by folder, with what was done to them', () => {
    const created = edit('src/retry.ts', 'export function retryUpload() {}', { change: 'created' });
    expect(
      section(
        'Files',
        first,
        edit('docs/a.md', 'a'),
        created,
        edit('src/upload.ts', 'b();'),
        agent('See `retryUpload`.'),
      ),
    ).toEqual([
      'Changed: src/: upload.ts (1 edit), retry.ts (new; 1 edit; declares retryUpload)',
      '  docs/: a.md (1 edit)',
    ]);
  });

  it('have their outcome and their variables', () => {
    const [line = ''] = section(
      'Commands',
      first,
      run('CI=1 npm test', '5 passed'),
      fail('npm run lint', 'error: no title'),
    );
    expect(line.split(' · ').sort()).toEqual(['`npm run lint` → FAILED', '`npm test` (env CI) → passed']);
  });
});

describe('what was declared', () => {
  it('says why something did not work', () => {
    const refuted = makeFact('decision', 'Use a queue', { status: 'refuted', detail: { because: 'it fills up' } });
    expect(sectionOf('Stated on purpose', refuted)).toEqual([
      '- tried, did not work: Use a queue; because: it fills up',
    ]);
  });

  it('comes by its kind: goals, steps, rules, decisions', () => {
    const facts = (['note', 'decision', 'constraint', 'next', 'goal'] as const).map((kind) =>
      makeFact(kind, `the ${kind}`, { ...OBSERVED, trust: 'declared', origin: 'human' }),
    );
    expect(sectionOf('Stated on purpose', ...facts)).toEqual([
      '- goal: the goal',
      '- next: the next',
      '- constraint: the constraint',
      '- decision: the decision',
      '- the note',
    ]);
  });
});
