import { describe, expect, it } from 'vitest';
import { compileBrief } from '../../../src/handover/brief/compile.ts';
import type { Fact } from '../../../src/model/fact.ts';
import { makeDraft, makeFact, OBSERVED, sealDraft } from '../../support/facts.ts';
import { readSection, renderSession, requireReader } from '../../support/rendered.ts';
import {
  agent,
  answer,
  compaction,
  done,
  edit,
  fail,
  inBackground,
  interruption,
  limit,
  other,
  plan,
  read,
  refused,
  run,
  type Step,
  scriptSession,
  steer,
  thought,
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
      'Asked: "Now write a page about the retry in the manual"',
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
      'Asked: "Make the upload retry when the server is busy"',
      'Then: "2"',
      '  in answer to: 2. Wait longer each time Which one?',
    ]);
  });

  it('does not take what was said before a question for its answer', () => {
    const early = user('also count the tries');
    const events = scriptSession(first, run('ls'), early, agent('It tries again. Shall I commit it?'));
    expect(readSection(renderSession(events).text, 'The user').join()).not.toContain('in answer to');
  });

  it('says where a request is not the user’s', () => {
    expect(section('The user', other('team-lead', 'Take the tests of the upload, please'))).toEqual([
      'Now (from team-lead, not the user): "Take the tests of the upload, please"',
    ]);
  });

  it('has what was said while the agent works below the request, and with older requests', () => {
    const steps = [first, run('ls'), steer('no sleeping, please')];
    expect(section('The user', ...steps)).toEqual([
      'Asked: "Make the upload retry when the server is busy"',
      'Then: "no sleeping, please"',
    ]);
    const told = section(
      'What happened, turn by turn',
      ...steps,
      agent('It tries again, five times.'),
      second,
      run('ls'),
    );
    expect(told.join()).toContain('"Make the upload retry when the server is busy", then "no sleeping, please"');
  });

  it('has the newest message in full, also where it steers and is long', () => {
    const wish = Array.from({ length: 30 }, (_, at) => `point ${at + 1} is to stay`).join(', ');
    expect(
      section('The user', first, run('ls'), steer('be quick about the first part'), run('ls'), steer(wish)),
    ).toContain(`Then: "${wish}"`);
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
});

describe('the section about what is next', () => {
  it('says that the agent spoke last, and how its words end', () => {
    expect(section('Next and open', first, run('npm test'), agent('It tries again.\n\nAll tests pass.'))[0]).toBe(
      'Next: the agent spoke last (asked "Make the upload retry when the server is busy"). Its last words: It tries again. All tests pass.',
    );
  });

  it('says that the user is to answer, and what', () => {
    expect(section('Next and open', first, agent('It tries again. Shall I commit it?'))).toEqual([
      'Next: the user is to answer the agent (asked "Make the upload retry when the server is busy"). Its last words: It tries again. Shall I commit it?',
      'Asked, not answered yet: Shall I commit it?',
    ]);
  });

  it('says of what moment a list of tasks is that was not touched for long', () => {
    const tasks = plan({ text: 'Write the page', status: 'pending' });
    const calls = Array.from({ length: 40 }, (_, at) => run(`make part${at}`));
    expect(section('Next and open', first, tasks, ...calls.slice(0, 5))).toContain('[pending] Write the page');
    expect(section('Next and open', first, tasks, ...calls)).toContain(
      '[pending] Write the page (as of 40 calls before the end)',
    );
  });

  it('says how long ago the last words were, where much was done since', () => {
    const calls = Array.from({ length: 6 }, (_, at) => run(`make part${at}`));
    expect(section('Next and open', first, agent('I build all parts.'), ...calls)[0]).toContain(
      "The agent's last words (6 calls before the end): I build all parts.",
    );
  });

  it('says what to go on with, the last words and the last call', () => {
    expect(section('Next and open', first, agent('I run the tests now.'), run('npm test'))).toEqual([
      'Next: go on with "Make the upload retry when the server is busy". The agent\'s last words: I run the tests now.',
      '  its last call: tool {"command": "npm test"}',
    ]);
  });

  it('names what the user said since the request', () => {
    const [next] = section('Next and open', first, run('npm test'), steer('and count how often it tries'), run('ls'));
    expect(next).toMatch(/go on with "Make the upload [^"]+", then "and count how often it tries"/);
  });

  it('has the last thought, and the name of a file whose path is long', () => {
    const path = '/home/ann/work/shop/packages/upload/src/queue.ts';
    const steps = [first, agent('I look at it.'), thought('The queue has to try again.'), read(path)];
    expect(section('Next and open', ...steps)).toEqual([
      'Next: go on with "Make the upload retry when the server is busy". The agent\'s last words: I look at it.',
      '  its last thought: The queue has to try again.',
      '  its last call: tool {"file_path": "…/upload/src/queue.ts"}',
    ]);
  });

  it('names with a bare answer what it answers', () => {
    const offer = agent('Which one?\n\n1. Wait a second between two tries\n2. Wait longer each time');
    expect(section('Next and open', first, offer, user('2'), run('ls'))[0]).toBe(
      'Next: go on with "2" (an answer to "2. Wait longer each time Which one?"); its last call: tool {"command": "ls"}',
    );
  });

  it('has the last list from its head, and the question above it', () => {
    const words = 'It tries again. Shall I go on?\n\nStill to do:\n- the page\n- the tests';
    expect(section('Next and open', first, run('ls'), agent(words))[0]).toContain(
      'Its last words: It tries again. Shall I go on? Still to do: the page the tests',
    );
  });

  it('says that a request is to be answered which nobody worked on', () => {
    expect(section('Next and open', first, agent('It tries again.'), second)).toEqual([
      'Next: respond to "Now write a page about the retry in the manual"',
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
      '`pytest -q` failed 1 call before the end; files were edited since, not run again: FAILED tests/test_a.py::test_one - assert 1 | FAILED tests/test_a.py::test_two - assert 2',
    ]);
    expect(section('Open errors', first, fail('pytest -q', output), run('pytest -q', '2 passed'))).toEqual([]);
  });

  it('show what was started and not seen to end', () => {
    expect(section('Running in the background', first, inBackground('npm run dev', 'bash_1'), run('ls'))).toEqual([
      '`npm run dev` (started 1 call before the end, not seen to end)',
    ]);
  });
});

describe('a request that was answered before another', () => {
  it('is no longer what the user wants now, however short the other is', () => {
    const steps = [first, run('npm test'), agent('It tries again, five times at most.'), user('commit this')];
    expect(section('The user', ...steps)).toEqual([
      'Answered: "Make the upload retry when the server is busy"',
      'Now: "commit this"',
    ]);
    expect(section('Next and open', ...steps)[0]).toBe('Next: respond to "commit this"');
  });

  it('is still what the user wants while the agent is at it', () => {
    expect(section('The user', first, run('npm test'), user('be quick'))).toEqual([
      'Asked: "Make the upload retry when the server is busy"',
      'Then: "be quick"',
    ]);
  });
});

describe('what the user says while refusing a call', () => {
  const steps = [
    first,
    refused({ kind: 'command', command: 'git push', background: false }),
    user('what does lint say?'),
  ];

  it('is quoted with the call, as a turn and in the section about the user', () => {
    const said = '(refusing tool git push)';
    expect(section('What happened, turn by turn', ...steps, agent('It says nothing.')).at(-1)).toBe(
      `- ${said} "what does lint say?" → It says nothing.`,
    );
    expect(section('The user', ...steps)).toContain(`Then ${said}: "what does lint say?"`);
  });

  it('settles nothing', () => {
    expect(section('What was settled', ...steps)).toEqual([]);
  });
});

describe('the section about what was settled', () => {
  it('has answers, choices and the approved plan', () => {
    const asking = agent('Two ways are open.\n\n1. Wait for a fixed time\n2. Wait longer each time\n\nWhich one?');
    const approved = done({ kind: 'propose', text: 'Add a retry to the client\nTest it with a slow server' });
    expect(section('What was settled', first, answer('How often?', 'Five times'), asking, user('2'), approved)).toEqual(
      [
        'Asked "Which one?" → "2", in its list: 2. Wait longer each time (the others: 1. Wait for a fixed time)',
        'Asked "How often?" → Five times',
        'Plan approved by the user: Add a retry to the client · Test it with a slow server',
      ],
    );
  });

  it('has last what only moved the talk on: one answer to several questions, and others to such as begin like those', () => {
    const steps = [
      answer('How often shall it try?', 'Five times'),
      answer('More questions about tries, or the next part?', 'Next'),
      answer('More questions about delays, or the next part?', 'Next'),
      answer('More questions about logs, or is that all?', 'Done'),
    ];
    const answers = section('What was settled', first, ...steps).map((line) => line.replace(/^.* → /, ''));
    expect(answers).toEqual(['Five times', 'Done', 'Next', 'Next']);
  });
});

describe('the section about the turns', () => {
  const heading = 'What happened, turn by turn';

  it('joins lines of an earlier turn without the marks of what they quote', () => {
    const closing = agent('The manual says:\n\n> It waits.\n>\n> It tries again.\n\nThat is true now.');
    expect(section(heading, first, closing, second, agent('It is written.'))[0]).toBe(
      '- "Make the upload retry when the server is busy" → The manual says: It waits. · It tries again. · That is true now.',
    );
  });

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
    const words = 'The upload in `upload.ts` tries again.\nIt waits for two seconds between two tries.';
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

  it('tells items with the statement that they stand under, and all of a heading that turns them round', () => {
    const ruled = 'This does not need to become large as long as we explicitly agree that we do not build:';
    const items = Array.from({ length: 30 }, (_, at) => `- part${at}.ts for \`queue${at}\` and \`worker${at}\``);
    const turns = Array.from({ length: 12 }, (_, at) => [
      user(`And now step ${at}, please`),
      agent(`Step ${at} is done.`),
    ]);
    const told = (words: string): string =>
      readSection(
        renderSession(scriptSession(first, agent(`${words}\n\n${items.join('\n')}`), ...turns.flat()), { budget: 600 })
          .text,
        heading,
      ).join('\n');
    expect(told(ruled)).toMatch(/do not build: part\d+\.ts/);
    expect(told('No, we keep the old one.\n\nWhat we would have to write:')).toMatch(
      /→ No, we keep the old one\. [·…]/,
    );
  });

  it('has the tasks that are done', () => {
    const tasks = plan({ text: 'Read it', status: 'completed' }, { text: 'Test it', status: 'pending' });
    expect(section(heading, first, tasks, agent('I go on.'))[0]).toBe('Tasks marked done: Read it');
  });

  it('always has the last turn, whatever the room', () => {
    const items = Array.from({ length: 80 }, (_, at) => `- part${at}.ts waits for part${at + 1}.ts`);
    const steps = [first, run('make'), agent(`It is done:\n\n${items.join('\n')}`)];
    for (let budget = 500; budget <= 1200; budget += 20) {
      const lines = readSection(renderSession(scriptSession(...steps), { budget }).text, heading);
      expect(lines.length, `${budget} tokens`).toBeGreaterThan(2);
      expect(lines[0]).toMatch(/^- "Make the upload retry.* →$/);
    }
  });

  it('tells short requests before it tells long ones at length', () => {
    const long = 'Look at the upload of the shop, and at everything that waits for it. '.repeat(12);
    const turns = Array.from({ length: 18 }, (_, at) => [
      user(at < 6 ? `No retry in step ${at}` : `${at}: ${long}`),
      agent(`Step ${at} is done.`),
    ]).flat();
    const lines = readSection(renderSession(scriptSession(...turns), { budget: 600 }).text, heading).join('\n');
    for (let at = 0; at < 6; at++) expect(lines).toContain(`"No retry in step ${at}"`);
  });

  it('has the summary of a compaction before the turn that it was made in, also after an answer in that turn', () => {
    const lines = section(
      heading,
      first,
      run('npm test'),
      answer('How often?', 'Five times'),
      compaction('It waits for the server, as `upload.ts` shows.'),
      agent('I look at the server next, since it is the one that is slow here. '.repeat(4)),
      run('npm test'),
    );
    expect(lines[0]).toBe('- (compacted; the agent summed up) → It waits for the server, as `upload.ts` shows.');
    expect(lines[1]).toMatch(/^- "Make the upload retry/);
  });

  it('says what answers a question before what else is said of it', () => {
    const turns = Array.from({ length: 8 }, (_, at) => [
      user(`Should we close issue ${at} of the upload now?`),
      agent(
        `No. I would keep that one open.\n\n${Array.from({ length: 12 }, (_, part) => `- \`Part${at}x${part}\` and \`Shop${at}x${part}\` wait for \`Queue${at}x${part}\``).join('\n')}`,
      ),
    ]).flat();
    const brief = renderSession(scriptSession(...turns), { budget: 800 }).text;
    const lines = readSection(brief, heading).filter((line) => line.includes(' → '));
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect(line).toMatch(/→ No\. I would keep that one open\. [·…] /);
  });

  it('marks what it leaves out between two items of a list', () => {
    const items = Array.from({ length: 60 }, (_, at) =>
      at % 3 === 1 ? `- part${at}.ts is ${'so '.repeat(20)}` : `- part${at}.ts for \`queue${at}\` and \`worker${at}\``,
    );
    const steps = [first, run('make'), agent(`It is done:\n\n${items.join('\n')}`), second, agent('I begin.')];
    const brief = renderSession(scriptSession(...steps), { budget: 600 }).text;
    const [line = ''] = readSection(brief, heading).filter((text) => text.includes('part'));
    const shown = Array.from(line.matchAll(/part(\d+)\.ts/g), ([, at]) => Number(at));
    const gaps = shown.slice(1).map((at, index) => at - (shown[index] ?? 0) > 1);
    expect(new Set(gaps)).toEqual(new Set([true, false]));
    expect(Array.from(line.matchAll(/ (·|…) part\d+\.ts/g), ([, mark]) => mark === '…')).toEqual(gaps);
  });

  it('has the heading of an answer once', () => {
    const turns = Array.from({ length: 8 }, (_, at) => [
      user(`What is slow in part ${at} of the upload?`),
      agent(
        `### What part ${at} waits for\n\n${Array.from({ length: 12 }, (_, item) => `- \`Part${at}x${item}\` waits for \`Queue${at}x${item}\``).join('\n')}`,
      ),
    ]).flat();
    const lines = readSection(renderSession(scriptSession(...turns), { budget: 800 }).text, heading);
    const told = lines.filter((line) => line.includes('What part'));
    expect(told.length).toBeGreaterThan(1);
    for (const line of told) expect(line.split('What part')).toHaveLength(2);
  });

  it('has the same words again as a turn of its own, each with what it answers', () => {
    const turns = [
      ...[first, agent('It tries again. Shall I run the tests?'), user('yes')],
      ...[agent('They pass. Shall I write the page?'), user('yes'), agent('It is in the manual.')],
    ];
    expect(section(heading, ...turns).slice(1)).toEqual([
      '- (to: It tries again. Shall I run the tests?) "yes" → They pass. Shall I write the page?',
      '- (to: They pass. Shall I write the page?) "yes" → It is in the manual.',
    ]);
  });

  it('has a request once that was sent again before anything came of it', () => {
    expect(section(heading, first, second, first, agent('It tries again.'))).toEqual([
      '- "Now write a page about the retry in the manual"',
      '- "Make the upload retry when the server is busy" → It tries again.',
    ]);
  });

  it('prefers what was said last on the way', () => {
    const words = Array.from({ length: 10 }, (_, at) => [
      agent(
        `Cause number ${at}: part ${at} of the shop may be what is slow here, since its queue is full. ${'I look at it. '.repeat(8)}`,
      ),
      run(`make part${at}`),
    ]).flat();
    const lines = readSection(renderSession(scriptSession(first, ...words), { budget: 500 }).text, heading).join('\n');
    expect(lines).toContain('Cause number 8');
    expect(lines).not.toContain('Cause number 0');
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

describe('what was declared', () => {
  it('says why something did not work', () => {
    const refuted = makeFact('decision', 'Use a queue', { status: 'refuted', detail: { because: 'it fills up' } });
    expect(sectionOf('Stated on purpose', refuted)).toEqual([
      '- tried, did not work: Use a queue; because: it fills up',
    ]);
  });

  it('comes by its kind: goals, rules, decisions; steps come first of what is next', () => {
    const facts = (['note', 'decision', 'constraint', 'next', 'goal'] as const).map((kind) =>
      makeFact(kind, `the ${kind}`, { ...OBSERVED, trust: 'declared', origin: 'human' }),
    );
    expect(sectionOf('Stated on purpose', ...facts)).toEqual([
      '- goal: the goal',
      '- constraint: the constraint',
      '- decision: the decision',
      '- the note',
    ]);
    expect(sectionOf('Next and open', ...facts)).toEqual(['Next, stated by hand: the next']);
  });
});
