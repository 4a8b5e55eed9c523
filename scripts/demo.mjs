// Shows the main job on an example, in a temporary home that is removed at the end: one agent's work is handed over,
// found again, given to another agent, and survives a kill in the middle of a save.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const bin = resolve('bin/handover.cjs');
const home = realpathSync(mkdtempSync(join(tmpdir(), 'handover-demo-')));
const project = join(home, 'shop');
const env = { PATH: process.env.PATH, HOME: home, XDG_DATA_HOME: join(home, 'data'), NO_COLOR: '1' };

/** @param {string} text */
function say(text) {
  console.log(`\n# ${text}`);
}

/** @param {string[]} args @param {{ input?: string }} [options] */
function handover(args, options = {}) {
  const shown = args.map((arg) => (/[^\w./:=-]/.test(arg) ? `"${arg}"` : arg)).join(' ');
  console.log(
    `$ ${options.input === undefined ? '' : `printf '${options.input.replaceAll('\n', '\\n')}' | `}handover ${shown}`,
  );
  const result = spawnSync(process.execPath, [bin, ...args], {
    cwd: project,
    env,
    encoding: 'utf8',
    ...options,
  });
  process.stdout.write(result.stdout + result.stderr);
  if (result.status !== 0) throw new Error(`handover ${args[0]} ended with ${result.status}`);
  return result.stdout;
}

/** @param {string[]} args */
function git(...args) {
  const result = spawnSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org', ...args], {
    cwd: project,
    env,
  });
  if (result.status !== 0) throw new Error(`git ${args[0]} ended with ${result.status}`);
}

function makeProject() {
  mkdirSync(join(project, 'src'), { recursive: true });
  writeFileSync(join(project, 'src', 'checkout.ts'), 'export const retries = 3;\n');
  git('init', '-q', '-b', 'main');
  git('remote', 'add', 'origin', 'https://git.example.org/team/shop.git');
  git('add', '.');
  git('commit', '-qm', 'Checkout with retries');
  writeFileSync(join(project, 'src', 'checkout.ts'), 'export const retries = 5;\n');
  writeFileSync(join(project, 'src', 'checkout.test.ts'), '// to be written\n');
}

async function killSavesInTheMiddle() {
  let killed = 0;
  for (let delay = 20; delay < 140; delay += 6) {
    const child = spawn(process.execPath, [bin, 'save', '--title', `killed after ${delay} ms`], {
      cwd: project,
      env,
      stdio: 'ignore',
    });
    const ended = new Promise((done) => child.on('exit', (_code, signal) => done(signal)));
    await new Promise((done) => setTimeout(done, delay));
    child.kill('SIGKILL');
    if ((await ended) === 'SIGKILL') killed++;
  }
  console.log(`$ (20 saves started, ${killed} of them killed with SIGKILL on the way)`);
}

try {
  makeProject();
  say('A session in Claude Code ends. What matters is kept, with the state of git.');
  handover([
    'save',
    '--agent',
    'claude-code',
    '--title',
    'Checkout retries',
    '--summary',
    'Retries raised to 5. The timeout test is still missing.',
    '--decision',
    'Retry only on 502 and 503',
    '--constraint',
    'No new dependencies',
    '--rejected',
    'A queue: too much to operate for one shop',
    '--next',
    'Write the timeout test in src/checkout.test.ts',
    '--file',
    'src/checkout.ts',
  ]);
  handover(['save', '--agent', 'codex', '--summary', '-', '--next', 'Ask Ben about the tax table'], {
    input: 'Invoice numbers\nThey must never repeat.\n',
  });
  say('Find it again.');
  handover(['list']);
  handover(['list', '--query', 'TIMEOUT', '--since', '2h']);
  say('Give it to another agent: what Codex reads, within 400 tokens.');
  const id = JSON.parse(
    spawnSync(process.execPath, [bin, 'list', '--json', '--query', 'retries', '--limit', '1'], {
      cwd: project,
      env,
      encoding: 'utf8',
    }).stdout,
  )[0].id;
  handover(['render', id, '--target', 'codex', '--budget', '400']);
  say('Pull the plug: saves that are killed half-way leave the old state or the new one, nothing else.');
  await killSavesInTheMiddle();
  handover(['doctor', '--fix']);
  handover(['show', id]);
} finally {
  rmSync(home, { recursive: true, force: true });
}
