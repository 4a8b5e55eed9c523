import { describe, expect, it } from 'vitest';
import { toPlainLines } from '../../../src/app/describe/styled-text.ts';
import { DAY_MS } from '../../../src/model/time.ts';
import { COMMAND_SUMMARIES } from '../../../src/surfaces/cli/command-summaries.ts';
import { COMMANDS } from '../../../src/surfaces/cli/commands/table.ts';
import { type CommandHelp, describeCommand, listNames, writeHelp } from '../../../src/surfaces/cli/help.ts';
import { EXAMPLES, QUESTIONS } from '../../../src/surfaces/cli/help-texts.ts';
import { VERSION } from '../../../src/version.ts';
import { captureWork } from '../../support/captured-work.ts';
import { makeSandbox } from '../../support/cli.ts';
import { writeSession } from '../../support/hooks.ts';

const sandbox = makeSandbox();
const NAMES = Object.keys(COMMANDS).sort();

describe('handover help', () => {
  it.each([[['help']], [['help', '--all']], [['save', '--help']], [['hooks', '--help']], [['diff', '--help']]])(
    'prints %j',
    async (args) => {
      expect(await sandbox.ok(args)).toMatchSnapshot();
    },
  );

  it('is the same with --help and -h', async () => {
    const help = await sandbox.ok(['help']);
    for (const args of [['-h'], ['--help']]) expect(await sandbox.ok(args)).toBe(help);
  });

  it('answers ten questions with commands that there are, and --all lists every command once', async () => {
    const help = await sandbox.ok(['help']);
    expect(QUESTIONS).toHaveLength(10);
    for (const [question, line, name] of QUESTIONS) {
      expect(help).toContain(question);
      expect(help).toContain(line);
      expect(line.split(' ')[1]).toBe(name);
    }
    const all = await sandbox.ok(['help', '--all']);
    const listed = [...all.matchAll(/^ {2}(\S+) +\S/gm)].map(([, name]) => name);
    expect(listed.filter((name) => name !== 'handover').sort()).toEqual(NAMES);
    expect(all).toContain(COMMAND_SUMMARIES.resume);
  });

  it('of a command is the same for help NAME, NAME --help, and hooks without a word', async () => {
    expect(await sandbox.ok(['help', 'save'])).toBe(await sandbox.ok(['save', '--help']));
    expect(await sandbox.ok(['hooks'])).toBe(await sandbox.ok(['help', 'hooks']));
  });

  it('has two or three examples for every command, with flags that the command has', async () => {
    const all = await sandbox.json<CommandHelp[]>(['help', '--all']);
    expect(all.map(({ name }) => name).sort()).toEqual(NAMES);
    for (const { name, examples, flags } of all) {
      expect([name, examples.length >= 2 && examples.length <= 3]).toEqual([name, true]);
      const known = new Set(flags.flatMap(({ term }) => term.match(/--[a-z-]+/g) ?? []));
      for (const { line } of examples) {
        expect(line).toMatch(new RegExp(`\\bhandover ${name}\\b`));
        const own = line.replace(/"[^"]*"/g, '').replace(/\$\(.*\)/, '');
        expect([line, (own.match(/ --[a-z-]+/g) ?? []).filter((flag) => !known.has(flag.trim()))]).toEqual([line, []]);
      }
    }
    expect(Object.keys(EXAMPLES).sort()).toEqual(NAMES);
  });

  it.each([40, 60, 100, 160])('fits %i columns', async (columns) => {
    const env = { COLUMNS: String(columns) };
    const pages = await Promise.all([['help'], ['help', '--all'], []].map((args) => sandbox.ok(args, { env })));
    for (const name of listNames())
      pages.push(toPlainLines(writeHelp(describeCommand(name, await COMMANDS[name]()), columns)).join('\n'));
    const lines = pages.flatMap((page) => page.split('\n'));
    // A path that is longer than a line stands alone.
    const isOneWord = (line: string): boolean => !/\S \S/.test(line.replace(/ \\$/, ''));
    expect(lines.filter((line) => line.length > columns && !isOneWord(line))).toEqual([]);
  });
});

describe('handover without a command', () => {
  it('says that nothing is here yet, and how to begin', async () => {
    const own = makeSandbox();
    const shown = await own.ok([]);
    expect(shown).toContain('nothing saved here yet');
    expect(shown).toContain('handover init');
    for (const [, line] of QUESTIONS) expect(shown).toContain(line);
  });

  it('counts what agents left here and says how to read it, also once hooks are set up', async () => {
    const own = makeSandbox();
    const session = writeSession(own);
    session.transcript.human('Retry the checkout');
    session.write();
    const before = await own.ok([]);
    expect(before).toMatch(/^ {2}last +nothing saved here yet; found 1 earlier session$/m);
    expect(before).toMatch(/^ {2}type +handover resume .*\n +handover init /m);
    await own.ok(['init', '--yes', '--agent', 'claude-code']);
    const after = await own.ok([]);
    expect(after).toMatch(/^ {2}last +nothing saved yet, hooks are set up; found 1 earlier session$/m);
    expect(after).not.toContain('handover init');
    expect(after).toContain('handover doctor');
    await own.ok(['capture', '--print', 'none']);
    await own.ok(['forget', '--all', '--yes']);
    expect(await own.ok([])).not.toContain('earlier session');
  });

  it('shows the last session here, what is next, what waits and what to type', async () => {
    const own = makeSandbox();
    await own.save('--agent', 'claude-code', '--title', 'Checkout retries', '--next', 'Write the timeout test');
    await own.ok(['pause']);
    const shown = await own.ok([]);
    expect(shown).toMatch(/^ {2}last +claude-code, just now: Checkout retries$/m);
    expect(shown).toMatch(/^ {2}next +Write the timeout test$/m);
    expect(shown).toMatch(/^ {2}waiting +automation is paused/m);
    expect(shown).toMatch(/^ {2}type +handover resume/m);
    const elsewhere = await own.ok([], { cwd: own.home });
    expect(elsewhere).toContain('nothing saved here yet');
  });

  it('shows the tasks and checks that were left open, and no longer those that were marked since', async () => {
    const own = makeSandbox();
    await captureWork(own, {
      day: 9,
      steps: [
        { ask: 'Retry the checkout' },
        { plan: ['Add the retry', 'Write the test', 'Count the attempts', 'Update the manual'] },
        { run: 'npm test -- login', output: 'FAIL login\nError: boom', fails: true },
        { run: 'npm test -- cart', output: 'Tests: 3 passed' },
      ],
    });
    const shown = await own.ok([]);
    expect(shown).toMatch(/^ {2}open +Add the retry\n +Write the test\n +Count the attempts\n +and 1 more$/m);
    expect(shown).toMatch(/^ {2}failing +npm test -- login$/m);
    await own.ok(['resolve', 'Write the test']);
    const then = await own.ok([]);
    expect(then).not.toContain('Write the test');
    expect(then).toContain('Update the manual');
  });

  it('goes by what the last session did, whether a hook saved it or not', async () => {
    const own = makeSandbox();
    await captureWork(own, { day: 9, steps: [{ ask: 'Retry the checkout' }] });
    await own.save('A note');
    const old = writeSession(own, { atMs: Date.now() - 2 * DAY_MS });
    old.transcript.human('Copied from another machine');
    old.write();
    expect(await own.ok([])).toMatch(
      /^ {2}last +just now, saved by hand on the work of claude-code, \d+d ago: A note$/m,
    );
    const session = writeSession(own);
    session.transcript.human('Sort the orders');
    session.write();
    expect(await own.ok([])).toMatch(/^ {2}last +claude-code, just now, not saved yet: Sort the orders$/m);
    await own.ok(['capture', '--print', 'none']);
    expect(await own.ok([])).toMatch(/^ {2}last +claude-code, just now: Sort the orders$/m);
  });
});

describe('the handover command', () => {
  it('says that flags come after the command', async () => {
    const { status, stderr } = await sandbox.run(['--json', 'list']);
    expect(status).toBe(64);
    expect(stderr).toContain('Flags come after the command');
  });

  it('prints its version', async () => {
    for (const args of [['--version'], ['-v'], ['-V'], ['version']])
      expect(await sandbox.ok(args)).toBe(`${VERSION}\n`);
  });

  it.each([
    ['lst', 'handover list'],
    ['resum', 'handover resume'],
    ['serach', 'handover search'],
    ['timelin', 'handover timeline'],
    ['log', 'handover timeline, or handover list'],
    ['continue', 'handover resume'],
    ['pull', 'handover sync'],
    ['uninstall', 'handover init --remove'],
  ])('asks for %s whether %s was meant', async (name, meant) => {
    for (const args of [[name], ['help', name]]) {
      const { status, stderr } = await sandbox.run(args);
      expect(status).toBe(64);
      expect(stderr).toContain(`there is no command "${name}"`);
      expect(stderr).toContain(`Did you mean: ${meant}`);
    }
  });

  it('does not guess where no command is near', async () => {
    for (const name of ['xyzzyx', 'constructor', '__proto__', 'toString']) {
      const { status, stderr } = await sandbox.run([name]);
      expect(status, name).toBe(64);
      expect(stderr).toContain('All commands: handover help --all');
      expect(stderr).not.toContain('Did you mean');
    }
  });

  it('asks whether another id was meant where one is near', async () => {
    const own = makeSandbox();
    const id = await own.save('--title', 'one');
    const wrong = `${id.slice(0, -2)}${id.slice(-1)}${id.slice(-2, -1)}`;
    const typed = wrong === id ? `${id}x` : wrong;
    const { status, stderr } = await own.run(['show', typed]);
    expect(status).toBe(66);
    expect(stderr).toContain(`Did you mean: ${id}`);
  });

  it('prints errors as text, and as one JSON document with --json', async () => {
    const text = await sandbox.run(['show', 'x']);
    const hint = 'Leave a note: handover save "where things stand"';
    expect(text.stderr).toBe(`error: no handover has the id "x"\n  next: ${hint}\n`);
    const { error } = JSON.parse((await sandbox.run(['show', 'x', '--json'])).stderr);
    expect(error).toEqual({
      code: 'HANDOVER_NOT_FOUND',
      message: 'no handover has the id "x"',
      hint,
    });
  });
});
