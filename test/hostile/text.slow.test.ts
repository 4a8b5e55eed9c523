import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { READER_NAMES } from '../../src/handover/brief/reader.ts';
import { DECLARABLE_KINDS } from '../../src/handover/declare.ts';
import type { Handover } from '../../src/model/handover.ts';
import { cleanText } from '../../src/model/text.ts';
import { describePlace } from '../../src/platform/project.ts';
import { inPairs, makeSandbox, runGit } from '../support/cli.ts';
import { findFrames, findUnsafe, findUnsafeInTerminal } from '../support/printable.ts';
import { isOwnLine, renderSession } from '../support/rendered.ts';
import { saveSample } from '../support/samples.ts';
import {
  agent,
  answer,
  edit,
  fail,
  inBackground,
  other,
  plan,
  run,
  scriptSession,
  user,
} from '../support/scripted-session.ts';
import { hasTerminal, runInTerminal } from '../support/terminal.ts';
import { LIBRARY_PAYLOADS, PAYLOADS, PROSE } from './payloads.ts';

const texts = Object.values(LIBRARY_PAYLOADS);
const sandbox = makeSandbox();
const ids: string[] = [];
/** A worktree whose own name, files, branch and commits are hostile. */
const hostileFolder = join(sandbox.folder, 'evil\u001b]0;x\u0007\n\u202e\u009bname');

beforeAll(async () => {
  const place = describePlace('.', sandbox.machine);
  for (const text of texts) {
    const facts = DECLARABLE_KINDS.map((kind) => ({ kind, text: `${kind} ${text}` }));
    const parts = {
      title: `title ${text}`,
      summary: text,
      agent: `a ${text.slice(0, 16)}`,
      facts,
      files: [text],
      pins: [`pin ${text}`],
    };
    ids.push(saveSample(sandbox.machine, parts, place).id);
  }
  makeHostileWorktree();
  const args = Object.values(PAYLOADS).flatMap((text) => ['--next', `next ${text}`, '--file', text]);
  ids.push(await sandbox.save('--title', 'in a hostile worktree', '--project', hostileFolder, ...args));
});

function makeHostileWorktree(): void {
  mkdirSync(hostileFolder);
  runGit(hostileFolder, 'init', '--quiet');
  runGit(hostileFolder, 'commit', '--quiet', '--allow-empty', '--message', `subject ${PAYLOADS['a colour']}\u202e`);
  runGit(hostileFolder, 'checkout', '--quiet', '-b', 'branch\u202e\u200b');
  for (const text of Object.values(PAYLOADS)) {
    if (!text.includes('/')) writeFileSync(join(hostileFolder, text), 'x');
  }
  writeFileSync(Buffer.concat([Buffer.from(`${hostileFolder}/raw-`), Buffer.from([0xff, 0x9b, 0x80])]), 'x');
  writeFileSync(join(hostileFolder, '..staged'), 'x');
  runGit(hostileFolder, 'add', '..staged');
}

async function expectPrintable(commands: readonly (readonly string[])[]): Promise<void> {
  const results = await inPairs(commands, (args) => sandbox.run(args));
  for (const [at, { stdout, stderr }] of results.entries()) {
    const name = commands[at]?.join(' ');
    expect(findUnsafe(stdout), name).toEqual([]);
    expect(findUnsafe(stderr), name).toEqual([]);
    if (commands[at]?.includes('--json')) expect(() => JSON.parse(stdout || stderr), name).not.toThrow();
  }
}

describe('hostile text that was saved', () => {
  it('is printable in every list', async () => {
    await expectPrintable([
      ['list', '--limit', '0'],
      ['list', '--json'],
      ['select', '--print-id'],
      ['select', '--print-id', '--json'],
      ['doctor'],
      ['doctor', '--json'],
    ]);
  });

  it('is printable wherever a handover is shown', async () => {
    await expectPrintable(
      ids.flatMap((id) => [
        ['show', id],
        ['show', id, '--json'],
        ['diff', id, ids.at(-1) ?? id, '--all'],
        ['diff', id, ids[0] ?? id, '--json'],
      ]),
    );
  });

  it('is printable in what is exported, and names nothing that git lists by what is not seen', async () => {
    await expectPrintable(ids.map((id) => ['export', '--id', id, '--format', 'json']));
  });

  it('is printable in the brief for every agent', async () => {
    const worktree = ids.at(-1) ?? '';
    const targets = READER_NAMES.map((target) => ['render', worktree, '--target', target, '--budget', '20000']);
    await expectPrintable([...targets, ...ids.map((id) => ['render', id, '--json'])]);
  });

  it('is only on quoted lines in a brief', async () => {
    for (const text of await inPairs(ids, (id) => sandbox.ok(['render', id, '--budget', '20000']))) {
      expect(text.split('\n').filter((line) => !line.startsWith('> ') && !isOwnLine(line))).toEqual([]);
      expect(findFrames(text)).toEqual([]);
    }
  });

  it('is printable in error messages', async () => {
    const words = Object.values(PAYLOADS);
    await expectPrintable([
      ...words.map((text) => ['show', `x${text}`]),
      ...words
        .slice(0, 8)
        .flatMap((text) => [
          [`x${text}`],
          ['render', '--target', text, '--json'],
          ['list', '--since', text],
          ['list', `--${text}`],
          ['save', '--summary', 'x', '--project', text],
          ['migrate', '--from', text],
          ['doctor', text],
        ]),
    ]);
  });

  it('is printable when migrated', async () => {
    const items = texts.map((text, at) => ({
      id: text,
      created_at: `2026-01-01T00:00:${String(at).padStart(2, '0')}Z`,
      tool: text,
      project: `/gone/${text}`,
      title: text,
      summary: text,
      next: [text],
      changed: [text],
    }));
    const file = join(sandbox.folder, `handoffs${PAYLOADS['a colour']}.json`);
    writeFileSync(file, JSON.stringify({ version: 1, items }));
    const other = { ...sandbox.env, HANDOVER_HOME: join(sandbox.folder, 'migrated') };
    const first = await sandbox.run(['migrate', '--from', file], { env: other });
    const again = await sandbox.run(['migrate', '--from', file, '--json'], { env: other });
    const list = await sandbox.run(['list', '--json'], { env: other });
    for (const { stdout, stderr } of [first, again, list]) expect(findUnsafe(stdout + stderr)).toEqual([]);
    expect(JSON.parse(list.stdout)).toHaveLength(texts.length);
  });
});

describe('hostile text in a session', () => {
  const render = (text: string, budget: number): string =>
    renderSession(
      scriptSession(
        user(`Look at this: ${text}`),
        answer(`Which one, ${text}?`, `this: ${text}`),
        other(text, `Take the tests of it, please: ${text}`),
        plan({ text: `task ${text}`, status: 'pending', id: text, detail: text }),
        edit(`src/${text}.ts`, text),
        edit(`docs/${text}.md`, text.padEnd(500, ` ${text}`), { change: 'created' }),
        inBackground(`npm run dev ${text}`, 'bash_1'),
        run(`git commit -m "${text}"`, `[main 1a2b3c4] ${text}`),
        agent(`Done: ${text}\n\n1. ${text}\n2. ${text}\n\nWhich one?`),
        user('2'),
        fail(`npm test ${text}`, `error: ${text}`),
        agent(text),
      ),
      { budget, goal: text },
    ).text;

  it.each(Object.entries(LIBRARY_PAYLOADS))('is quoted and printable in its brief: %s', (_, text) => {
    for (const budget of [256, 2000, 20_000]) {
      const brief = render(text, budget);
      expect(findUnsafe(brief)).toEqual([]);
      expect(findFrames(brief)).toEqual([]);
      expect(brief.split('\n').filter((line) => !line.startsWith('> ') && !isOwnLine(line))).toEqual([]);
    }
  });

  it.each(['x', 'word ', '漢', '`', '> ', '- a\n', '# '])(
    'that repeats %j for a megabyte is within the budget',
    (unit) => {
      const brief = render(unit.repeat(1_000_000 / unit.length), 2000);
      expect(Buffer.byteLength(brief)).toBeLessThanOrEqual(8000);
      expect(brief).toContain('## The user');
    },
  );
});

describe.runIf(hasTerminal)('hostile text on a terminal', () => {
  it('prints only our own colour codes', async () => {
    const commands = [
      ['list', '--limit', '0'],
      ...ids.slice(0, 12).map((id) => ['show', id]),
      ['show', ids.at(-1) ?? ''],
      ['render', ids.at(-1) ?? ''],
      ['list', '--json'],
      ['select', '--print-id'],
      ['doctor'],
      ['show', PAYLOADS['a link (OSC 8)'] ?? ''],
      ['list', '--since', PAYLOADS['a colour'] ?? ''],
    ];
    const results = await inPairs(commands, (args) => runInTerminal(sandbox, args));
    for (const [at, { terminal }] of results.entries()) {
      expect(terminal).not.toBe('');
      expect(findUnsafeInTerminal(terminal), commands[at]?.join(' ')).toEqual([]);
    }
    expect(results[0]?.terminal).toContain('\u001b[1m');
  });

  it('is printable in the picker too', async () => {
    const { terminal, stdout } = await runInTerminal(sandbox, ['select'], {
      pipeOutput: true,
      keys: [{ after: 'Which handover?', type: '\u0003' }],
    });
    expect(stdout).toBe('');
    expect(terminal).not.toMatch(/\u001b[\]P_^X]|[\u0080-\u009f\u202a-\u202e\u2066-\u2069\u200b]/);
    expect(terminal).not.toContain('\u001b[2J');
  });
});

describe('ordinary text', () => {
  it('is kept whole: emoji, right-to-left scripts, joiners', async () => {
    const own = makeSandbox();
    const args = PROSE.flatMap((text) => ['--next', text]);
    const id = await own.save('--title', PROSE[0] ?? '', '--summary', PROSE.join('\n'), ...args);
    const sealed = await own.json<Handover>(['show', id]);
    expect(sealed.summary).toBe(PROSE.join('\n'));
    expect(sealed.facts.map((fact) => fact.text)).toEqual(PROSE);
    for (const output of [await own.ok(['show', id]), await own.ok(['render', id])]) {
      for (const text of PROSE) expect(output).toContain(text);
    }
    expect(await own.ok(['list', '--id', id])).toContain(PROSE[0]);
  });

  it('is not changed by cleaning it', () => {
    for (const text of PROSE) expect(cleanText(text)).toBe(text);
  });
});
