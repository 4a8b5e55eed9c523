import { closeSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { V2Envelope } from '../../src/exchange/legacy/v2-envelope.ts';
import type { Fact } from '../../src/model/fact.ts';
import type { Handover } from '../../src/model/handover.ts';
import { SESSION_ID, Transcript } from '../fixtures/agents/claude-code.ts';
import { makeSandbox, makeTempFolder, type Sandbox } from '../support/cli.ts';
import { STORY_CWD } from '../support/conformance/agents.ts';
import { writeText } from '../support/transcripts.ts';
import { listFiles } from '../support/tree.ts';

/* What handoff V2 gets wrong in reading a session, one test each. Its restoring and storing are tested elsewhere. */

interface Captured {
  handover: Handover;
  envelope: V2Envelope;
  brief: string;
}

const place = (sandbox: Sandbox): string =>
  join(sandbox.home, '.claude/projects/-home-ann-shop', `${SESSION_ID}.jsonl`);

/** Captures a session that `tell` writes, in all forms that can be printed. */
async function capture(tell: (t: Transcript) => void): Promise<Captured> {
  const sandbox = makeSandbox();
  const transcript = new Transcript();
  tell(transcript);
  const path = writeText(place(sandbox), transcript.text);
  const print = (form: string): Promise<string> =>
    sandbox.ok(['capture', '--transcript', path, '--print', form, '--dry-run']);
  return {
    handover: JSON.parse(await print('json')),
    envelope: JSON.parse(await print('v2')),
    brief: await print('brief'),
  };
}

function ofKind({ handover }: Captured, kind: Fact['kind']): string[] {
  return handover.facts.filter((fact) => fact.kind === kind).map((fact) => fact.text);
}

describe('finished and open calls, where handoff V2 failed', () => {
  it('V2-3: a call is finished when its result is there, nested as real transcripts have it', async () => {
    const captured = await capture((t) => {
      t.human('Build it and deploy it, please');
      t.call('a', 'Bash', { command: 'make all' });
      t.result('a', 'built', { data: { stdout: 'built', stderr: '' } });
    });
    expect(captured.envelope.resume_snapshot).toMatchObject({
      pending_operations: [],
      progress_state: 'ready',
    });
    expect(ofKind(captured, 'running')).toEqual([]);
    const stopped = await capture((t) => {
      t.human('Build it and deploy it, please');
      t.call('a', 'Bash', { command: 'make deploy' });
    });
    expect(stopped.envelope.resume_snapshot.pending_operations).toMatchObject([{ target: 'make deploy' }]);
  });

  it('V2-9: a text with "plan" in it is no plan awaiting approval', async () => {
    const { envelope, ...captured } = await capture((t) =>
      t.human('Give me an explanation of the airplane module, and of its planning'),
    );
    expect(envelope.resume_snapshot).toMatchObject({
      blockers: [],
      progress_percent: 35,
      progress_state: 'ready',
    });
    expect(ofKind({ envelope, ...captured }, 'blocker')).toEqual([]);
  });
});

describe('the identity of a session, where handoff V2 failed', () => {
  it('V2-4: the session id is read from the field of real transcripts, also with copied rows', async () => {
    const { handover } = await capture((t) => {
      const other = new Transcript({ sessionId: '11111111-2222-4333-8444-555555555555' });
      other.human('Asked in the session before');
      t.rows.push(...other.rows.map((row) => ({ ...row, uuid: 'copied' })));
      t.returnTo(null);
      t.human('Asked in this session, which goes on from it');
    });
    expect(handover.session.id).toBe(SESSION_ID);
    const current = handover.facts.find(({ detail }) => detail?.role === 'current');
    expect(current?.text).toBe('Asked in this session, which goes on from it');
  });

  it('V2-14: the chain of sessions has as many as there were', async () => {
    const sandbox = makeSandbox();
    const sessions = [1, 2, 3, 4].map((day) => `${day}0000000-4b5e-4f0a-9d57-0c1f7c2a9e11`);
    let printed = '';
    for (const [index, sessionId] of sessions.entries()) {
      const t = new Transcript({ sessionId, timestamp: `2026-02-0${index + 1}T09:00:00.000Z` });
      t.human(`Write part ${index + 1} of the documentation, please`);
      const path = join(sandbox.home, '.claude/projects/-home-ann-shop', `${sessionId}.jsonl`);
      printed = await sandbox.ok(['capture', '--transcript', writeText(path, t.text), '--print', 'v2']);
    }
    const { resume_snapshot }: V2Envelope = JSON.parse(printed);
    expect(resume_snapshot.session_chain).toEqual(sessions);
    expect(resume_snapshot.n_2_transcript_path).toContain(sessions[2]);
  });
});

describe('the newest facts, where handoff V2 failed', () => {
  it('V2-5: the latest files and decisions are kept, and what the agent only said is none', async () => {
    const { envelope, brief, handover } = await capture((t) => {
      t.human('Work through all of the modules, one after the other');
      for (const at of [1, 2]) {
        t.call(`q${at}`, 'AskUserQuestion', { questions: [{ question: `The limit of module ${at}?`, options: [] }] });
        t.result(`q${at}`, `User has answered your questions: "The limit of module ${at}?"="${at} rows". Continue.`);
      }
      for (let at = 0; at < 60; at++) {
        const file_path = `${STORY_CWD}/src/module${at}.ts`;
        t.call(`r${at}`, 'Write', { file_path, content: `export const value${at} = ${at};\n` });
        t.result(`r${at}`, 'ok');
        t.say(`We decided to keep the limit of module ${at} at ${at} rows.`);
      }
    });
    const { active_files } = envelope.resume_snapshot;
    expect(active_files[0]).toBe('src/module59.ts');
    expect(active_files).not.toContain('src/module0.ts');
    expect(envelope.evidence_index[1]?.path).toBe('src/module59.ts');
    expect(envelope.decision_register.map(({ summary }) => summary)).toEqual([
      'The limit of module 2? → 2 rows',
      'The limit of module 1? → 1 rows',
    ]);
    expect(handover.facts.filter((fact) => fact.kind === 'file')).toHaveLength(60);
    expect(brief).toContain('module59.ts');
  });
});

describe('prompts, where handoff V2 failed', () => {
  it.each(['Refactor this network module', 'Add a copyright header to this file', 'Is this system working right?'])(
    'V2-7: %j is a request like any other',
    async (text) => {
      const { envelope, handover, brief } = await capture((t) => t.human(text));
      expect(envelope.resume_snapshot).toMatchObject({ goal: text, last_user_message: text });
      expect(handover.title).toBe(text);
      expect(brief).toContain(`> Now: "${text}"\n`);
    },
  );

  it('V2-8: a slash command is kept with its arguments, and without any, and "fix it" is a message', async () => {
    const command = (name: string, args: string): string =>
      `<command-message>${name}</command-message>\n<command-name>/${name}</command-name>${args}`;
    const withArguments = await capture((t) =>
      t.human(command('review', '\n<command-args>the upload of large files</command-args>')),
    );
    expect(withArguments.envelope.resume_snapshot).toMatchObject({
      goal: '/review the upload of large files',
      goal_origin: 'slash_command_with_args',
    });
    const bare = await capture((t) => t.human(command('commit', '')));
    expect(bare.envelope.resume_snapshot).toMatchObject({
      goal: '/commit',
      goal_origin: 'slash_command_bare',
    });
    const short = await capture((t) => {
      t.human('The build of the documentation is broken');
      t.say('I see.');
      t.human('fix it');
    });
    expect(short.envelope.resume_snapshot.last_user_message).toBe('fix it');
    expect(short.brief).toContain('> Then: "fix it"\n');
  });

  it.each([
    '上传失败时请重试，最多五次',
    'Загрузка должна повторяться',
    'Bitte die Übertragung wiederholen 🙏',
    'أعد المحاولة خمس مرات',
  ])('V2-10: %j is kept as it is', async (text) => {
    const { envelope, brief } = await capture((t) => t.human(text));
    expect(envelope.resume_snapshot).toMatchObject({ goal: text, message_intent: 'instruction' });
    expect(brief).toContain(text);
  });

  it('V2-12: a lone surrogate is handled', async () => {
    const sandbox = makeSandbox();
    const row =
      '{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"Port it \\ud83d now"},"uuid":"u1","sessionId":"s","cwd":"/x"}\n';
    const path = writeText(place(sandbox), row);
    await sandbox.ok(['capture', '--transcript', path, '--print', 'none']);
    const { title } = await sandbox.json<Handover>(['show', 'latest']);
    expect(title).toBe('Port it \ufffd now');
    const envelope = await sandbox.ok(['capture', '--transcript', path, '--print', 'v2', '--dry-run']);
    expect(envelope.isWellFormed()).toBe(true);
  });
});

describe('captured events, where handoff V2 failed', () => {
  it('V2-11: a skill, its output and what the agent says of it make no decision', async () => {
    const { envelope, handover } = await capture((t) => {
      t.human('Review the branch with the skill');
      t.call('a', 'Skill', { skill: 'review' });
      t.result('a', 'Launching skill: review');
      t.human('Base directory for this skill: /skills/review\n\nYou must never skip a file.', {
        isMeta: true,
      });
      t.say('We decided to split the module in two.');
    });
    expect(handover.facts.length).toBeGreaterThan(0);
    expect(envelope.decision_register).toEqual([]);
  });

  it('V2-13: a file read outside the project makes nothing stale', async () => {
    const outside = join(makeTempFolder(), 'notes.md');
    writeFileSync(outside, 'notes\n');
    const { envelope, handover } = await capture((t) => {
      t.human('Read my notes, then write the page');
      t.call('a', 'Read', { file_path: outside });
      t.result('a', '1→notes');
      t.call('b', 'Write', { file_path: `${STORY_CWD}/page.md`, content: '# Page\n' });
      t.result('b', 'ok');
    });
    const evidence = envelope.evidence_index.filter(({ path }) => path.startsWith('/') && path.endsWith('.md'));
    expect(evidence.every(({ content_hash }) => content_hash === undefined)).toBe(true);
    expect(handover.facts.find((fact) => fact.text === 'page.md')).toMatchObject({ status: 'created' });
  });

  it('V2-15: a message of 90 KB fits into a brief of the budget and into an envelope of a readable size', async () => {
    const long = Array.from(
      { length: 1500 },
      (_, at) => `Finding ${at} is that the parser needs a limit of ${at} rows.`,
    );
    const { envelope, brief } = await capture((t) => {
      t.human(`Look at all this, please:\n${long.join('\n')}`);
      t.say(long.join(' '));
    });
    expect(long.join(' ').length).toBeGreaterThan(80_000);
    expect(Buffer.byteLength(brief)).toBeLessThanOrEqual(8000);
    expect(Buffer.byteLength(JSON.stringify(envelope))).toBeLessThan(40_000);
    expect(envelope.resume_snapshot.goal).toMatch(/^Look at all this, please:\nFinding 0 /);
  });

  it('V2-16: a typed secret is neither stored nor shown', async () => {
    const secret = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_');
    const sandbox = makeSandbox();
    const t = new Transcript();
    t.human(`Use the token ${secret} to push the branch`);
    t.call('a', 'Bash', { command: `git push https://ann:${secret}@example.org/shop.git main` });
    t.result('a', `remote: denied for ${secret}`, { isError: true });
    const path = writeText(place(sandbox), t.text);
    const prints = ['brief', 'json', 'v2'].map((form) => ['capture', '--transcript', path, '--print', form]);
    for (const args of [
      ...prints,
      ['show', '--events'],
      ['show', '--events', '--json'],
      ['render', '--all-projects'],
      ['list'],
    ]) {
      const { status, stdout, stderr } = await sandbox.run(args);
      expect([status, stdout.includes(secret), stderr.includes(secret)], args.join(' ')).toEqual([0, false, false]);
    }
    const { redactions } = await sandbox.json<Handover>(['show']);
    expect(redactions).toEqual([{ kind: 'github-token', count: 1 }]);
    expect(await sandbox.ok(['show', '--events'])).toMatch(
      /prompt {2}Use the token \[redacted:github-token:[0-9a-z]{8}\] to push/,
    );
    for (const file of listFiles(sandbox.store)) expect(readFileSync(file).includes(secret), file).toBe(false);
  });
});

describe('a transcript of more than 50 MB and 50,000 rows', () => {
  const sandbox = makeSandbox();
  const path = place(sandbox);
  const LAST = 'Now port all of it to Windows, keep the tests green';

  beforeAll(() => {
    const t = new Transcript();
    t.human('Begin with the parser, please');
    t.call('a', 'Bash', { command: 'npm test' });
    t.result('a', 'x'.repeat(2000), { data: { stdout: 'x'.repeat(2000), stderr: '' } });
    t.say('The parser is done, the lexer is next.');
    const [first = {}, ...block] = t.rows;
    writeText(path, '');
    const file = openSync(path, 'a');
    writeSync(file, `${JSON.stringify(first)}\n`);
    for (let written = 0; written < 51_000; written += 300) {
      const rows = Array.from({ length: 100 }, (_, at) =>
        block.map((row, index) => ({ ...row, uuid: `row-${written}-${at}-${index}`, parentUuid: null })),
      ).flat();
      writeSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    }
    t.human(LAST);
    writeSync(file, `${JSON.stringify(t.rows.at(-1))}\n`);
    closeSync(file);
  }, 240_000);

  it('V2-6: is read to its end, and its last request is the goal', async () => {
    expect(statSync(path).size).toBeGreaterThan(50 * 1024 * 1024);
    const printed = await sandbox.ok(['capture', '--transcript', path, '--print', 'v2', '--dry-run'], {
      timeoutMs: 60_000,
    });
    const { resume_snapshot }: V2Envelope = JSON.parse(printed);
    expect(resume_snapshot).toMatchObject({ goal: LAST, last_user_message: LAST });
  });

  it('V2-23: is parsed once, in memory that is smaller than the file', async () => {
    const count = join(sandbox.folder, 'count');
    const counter = writeText(
      join(sandbox.folder, 'counter.cjs'),
      `const parse = JSON.parse; let calls = 0;
       JSON.parse = (...args) => { calls++; return parse(...args); };
       process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(count)}, String(calls)));`,
    );
    const { status } = await sandbox.run(['capture', '--transcript', path, '--print', 'none', '--dry-run'], {
      env: { NODE_OPTIONS: `--max-old-space-size=48 --require ${counter}` },
      timeoutMs: 60_000,
    });
    expect(status).toBe(0);
    const rows = 51_002;
    expect(Number(readFileSync(count, 'utf8'))).toBeLessThan(rows * 1.05);
  });
});
