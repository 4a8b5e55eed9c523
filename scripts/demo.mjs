// Shows the main job in a sandbox that is removed at the end: a session of Claude Code is kept by its hooks and killed in the middle,
// Codex continues, and the brief knows what changed since. All that is printed below a $ is what the command printed.
//   npm run demo                      all scenes
//   npm run demo -- --only resume     some of them, by their names
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseStory } from '../test/fixtures/sessions/write/parse-story.mjs';
import { makeStory } from '../test/fixtures/sessions/write/write-story.mjs';

const only = process.argv.includes('--only') ? (process.argv.at(-1) ?? '').split(',') : null;
const hasColours =
  !process.env.NO_COLOR &&
  (Boolean(process.env.FORCE_COLOR) || (process.stdout.isTTY === true && process.env.TERM !== 'dumb'));
const home = realpathSync(mkdtempSync(join(tmpdir(), 'handover-demo-')));
const project = join(home, 'shop');
const programs = join(home, 'bin');
const env = {
  PATH: `${programs}:${process.env.PATH}`,
  HOME: home,
  XDG_DATA_HOME: join(home, '.local/share'),
  COLUMNS: process.env.COLUMNS ?? String(process.stdout.columns ?? 100),
  GIT_CONFIG_NOSYSTEM: '1',
  ...(hasColours ? { FORCE_COLOR: '1' } : { NO_COLOR: '1' }),
};

const paint = (code, text) => (hasColours ? `\u001b[${code}m${text}\u001b[0m` : text);
const [BOLD, DIM, RED, GREEN, YELLOW, CYAN] = [1, 2, 31, 32, 33, 36];

let scene = '';
const print = (text) => {
  if (only === null || only.includes(scene)) process.stdout.write(`${text}\n`);
};

/** @param {string} name @param {string} title */
function begin(name, title) {
  scene = name;
  print(`\n${paint(BOLD, `── ${title} `)}${paint(DIM, '─'.repeat(Math.max(0, 90 - title.length)))}`);
}

/** What to notice. */
function notice(text) {
  print(`${paint(YELLOW, '☞')} ${paint(YELLOW, text)}`);
}

/**
 * @param {string[]} args
 * @param {{ most?: number, marks?: RegExp }} [options] `most`: how many lines are shown; `marks`: the lines to look at
 */
function handover(args, { most = 60, marks } = {}) {
  const words = args.map((arg) => (/[^\w./:=-]/.test(arg) ? `"${arg}"` : arg));
  print(`${paint(GREEN, '~/shop $')} ${paint(BOLD, ['handover', ...words].join(' '))}`);
  const command = [process.execPath, resolve('bin/handover.cjs'), ...args];
  const result = spawnSync(command[0], command.slice(1), { cwd: project, env, encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`handover ${args[0]} ended with ${result.status}: ${result.stderr}`);
  const lines = `${result.stderr}${result.stdout}`.trimEnd().replaceAll(home, '/home/ada').split('\n');
  for (const line of lines.slice(0, most)) print(marks?.test(line) ? paint(CYAN, line) : line);
  if (lines.length > most) print(paint(DIM, `… ${lines.length - most} more lines`));
}

/** @param {string[]} args */
function git(...args) {
  const dates = { GIT_AUTHOR_DATE: '2026-11-16T08:00:00Z', GIT_COMMITTER_DATE: '2026-11-16T08:00:00Z' };
  const settings = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', '-c', 'init.defaultBranch=main'];
  const { status, stderr } = spawnSync('git', [...settings, ...args], { cwd: project, env: { ...env, ...dates } });
  if (status !== 0) throw new Error(`git ${args[0]} ended with ${status}: ${stderr}`);
}

/** @param {string} file @param {string} text @param {number} [agoMs] how long ago it was written */
function write(file, text, agoMs = 0) {
  const path = join(project, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${text}\n`);
  const at = (Date.now() - agoMs) / 1000;
  utimesSync(path, at, at);
}

const MINUTE_MS = 60_000;

/** The session as Claude Code would have written it here, its last line three minutes ago. */
function readStory() {
  const story = parseStory(readFileSync('scripts/demo/checkout.story', 'utf8'));
  const lengthOf = ({ rows }) => Date.parse(rows.at(-1).timestamp) - Date.parse(story.about.start);
  const length = lengthOf(makeStory('demo', { ...story, about: { ...story.about, cwd: project } }));
  const about = { ...story.about, cwd: project, start: new Date(Date.now() - length - 3 * MINUTE_MS).toISOString() };
  return { ...story, about, transcript: makeStory('demo', { ...story, about }) };
}

/** Writes the session line by line, and its files, and calls its hooks at the end of each turn but the last. */
async function playSession() {
  const { files, steps, transcript } = readStory();
  const session = transcript.rows.find(({ sessionId }) => sessionId !== undefined).sessionId;
  const path = join(home, '.claude/projects/-home-ada-shop', `${session}.jsonl`);
  for (const { subject, body } of files) write(subject, body);
  git('init', '-q');
  git('remote', 'add', 'origin', 'https://git.example.org/ada/shop.git');
  git('add', '.');
  git('commit', '-qm', 'Checkout');
  mkdirSync(dirname(path), { recursive: true });
  const agent = spawn(process.execPath, [resolve('scripts/demo/agent.mjs')], {
    cwd: project,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface({ input: agent.stdout })[Symbol.asyncIterator]();
  const call = async (hook_event_name, more = {}) => {
    const input = { session_id: session, transcript_path: path, cwd: project, hook_event_name, ...more };
    agent.stdin.write(`${JSON.stringify(input)}\n`);
    await answers.next();
  };
  const turns = steps.reduce((all, step) => {
    if (step.verb === 'user') all.push([]);
    all.at(-1).push(step);
    return all;
  }, []);
  const isPrompt = ({ type, message }) => type === 'user' && typeof message.content === 'string';
  const starts = [...transcript.rows.entries()].filter(([, row]) => isPrompt(row)).map(([at]) => at - 1);
  await call('SessionStart', { source: 'startup' });
  for (const [at, turn] of turns.entries()) {
    const isLast = at === turns.length - 1;
    for (const step of turn) show(step);
    await call('UserPromptSubmit', { prompt: turn[0].body });
    const rows = transcript.rows.slice(0, isLast ? undefined : starts[at + 1]);
    writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    if (isLast) continue;
    await call('Stop');
    await waitForCapture(rows.at(-1).timestamp);
  }
  agent.kill('SIGKILL');
  print(paint(RED, '✗ killed: kill -9, in the middle of the turn'));
}

function show({ verb, subject, body, to, exitCode }) {
  if (verb === 'user') print(`${paint(BOLD, '>')} ${body}`);
  else if (verb === 'say') print(`${paint(DIM, '●')} ${body}`);
  else if (verb === 'todo') print(`${paint(DIM, '●')} plan: ${body.split('\n').length} steps`);
  else print(`${paint(DIM, '●')} ${verb} ${subject}${exitCode > 0 ? paint(YELLOW, '  fails') : ''}`);
  if (verb === 'write') write(subject, body, 4 * MINUTE_MS);
  if (verb === 'edit')
    write(subject, readFileSync(join(project, subject), 'utf8').trimEnd().replace(body, to), 4 * MINUTE_MS);
}

/** The hook has left the work to a process of its own. */
async function waitForCapture(lastAt) {
  for (let tries = 0; tries < 200; tries++) {
    const args = [resolve('bin/handover.cjs'), 'list', '--json'];
    const { stdout } = spawnSync(process.execPath, args, { cwd: project, env, encoding: 'utf8' });
    if (JSON.parse(stdout).some(({ last_at }) => last_at >= lastAt)) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error('the hook kept nothing');
}

try {
  for (const folder of [project, programs, join(home, '.claude'), join(home, '.codex')])
    mkdirSync(folder, { recursive: true });
  copyFileSync('scripts/demo/codex.mjs', join(programs, 'codex'));
  chmodSync(join(programs, 'codex'), 0o755);

  begin('init', 'Once: set up the agents that are on this machine');
  handover(['init', '--yes'], { marks: /^to do/ });

  begin('session', 'Ada works in Claude Code, until it dies');
  await playSession();
  notice('The hook kept each finished turn. The last turn is only in the transcript, and that is enough.');

  begin('here', 'Later, in the same folder');
  handover([], { most: 6, marks: /^ {2}(?:last|next)/ });

  begin('to', 'Codex takes over, with the brief as its first prompt (a script plays Codex)');
  handover(['to', 'codex', '--goal', 'Make the timeout test pass']);
  notice('What Claude Code did after its last hook was read from its transcript before Codex started.');

  begin('resume', 'What Codex was told');
  handover(['resume'], { most: 34, marks: /Never retry a 500|No new dependencies|fails?:|not ok|timeout\.test/ });
  notice(
    'Your own words, quoted. What failed is called failed. No model wrote this: the same session gives the same brief.',
  );

  begin('search', 'Find it again, weeks later');
  handover(['search', 'charged twice'], { most: 8, marks: /twice/ });
  handover(['why', 'src/checkout.js'], { most: 18, marks: /Never retry/ });
  notice('Why the code is as it is, in the words in which it was decided.');

  begin('changed', 'Reality moves on: somebody commits another change to the same file');
  const text = readFileSync(join(project, 'src/checkout.js'), 'utf8').trimEnd();
  write('src/checkout.js', text.replace('attempt === 5', 'attempt === 3'));
  git('commit', '-qam', 'Three attempts are enough');
  handover(['resume'], { most: 14, marks: /[Cc]hanged|commit|checkout\.js/ });
  notice('The brief says what is no longer as the session left it, before anybody builds on it.');
} finally {
  rmSync(home, { recursive: true, force: true });
}
