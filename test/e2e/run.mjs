// Runs real agents against a scripted model: npm run e2e [-- [--agent codex …] [FILE …]]
// Installs the agents that are asked for into .cache/e2e, in the versions that test/e2e/agents pins.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { killProcessesBelow } from './leftovers.mjs';

const MANIFESTS = resolve(import.meta.dirname, 'agents');
const CACHE = resolve(import.meta.dirname, '../../.cache/e2e');
const INSTALL_MS = 180_000;
const SCENARIOS_MS = 1_800_000;

const known = readdirSync(MANIFESTS).sort();
const { agents, files } = readArguments();
const chosen = [...new Set(agents ?? known)];
const unknown = chosen.filter((agent) => !known.includes(agent));
if (unknown.length > 0) fail(`not an agent of these tests: ${unknown.join(', ')}; there are ${known.join(', ')}`);

// Every home of an agent is below this folder: by it, what an agent leaves running is known for ours.
const folder = mkdtempSync(join(tmpdir(), 'handover-e2e-'));
let running;
process.on('exit', () => {
  running?.kill('SIGKILL');
  killProcessesBelow(folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => fail(`ended by ${signal}`));

for (const agent of chosen) await install(agent);
await run('npm', ['run', '--silent', 'build'], { what: 'the build', timeout: INSTALL_MS });
const VITEST = 'node_modules/vitest/vitest.mjs';
await run(process.execPath, [VITEST, 'run', '--config', 'test/e2e/vitest.config.ts', ...files], {
  what: 'a scenario',
  timeout: SCENARIOS_MS,
  env: { HANDOVER_E2E_AGENTS: chosen.join(' '), TMPDIR: folder },
});

function readArguments() {
  try {
    const options = { agent: { type: 'string', multiple: true } };
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    return { agents: values.agent, files: positionals };
  } catch (error) {
    return fail(error.message);
  }
}

async function install(agent) {
  const target = join(CACHE, agent);
  const [name, version] = Object.entries(readJson(join(MANIFESTS, agent, 'package.json')).dependencies)[0];
  const stamp = join(target, 'installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === version) return;
  console.log(`installing ${name} ${version}`);
  mkdirSync(target, { recursive: true });
  for (const file of ['package.json', 'package-lock.json'])
    copyFileSync(join(MANIFESTS, agent, file), join(target, file));
  // Not `npm ci`: it refuses a lock that lacks packages for other platforms, which a registry need not have.
  await run('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'], {
    what: `installing ${agent}`,
    timeout: INSTALL_MS,
    cwd: target,
  });
  writeFileSync(stamp, version);
}

async function run(program, args, { what, timeout, cwd, env }) {
  running = spawn(program, args, { cwd, timeout, env: { ...process.env, ...env }, stdio: 'inherit' });
  const [status, signal] = await once(running, 'exit');
  if (signal !== null) fail(`${what} did not finish within ${timeout / 1000} s (${signal})`);
  if (status !== 0) fail(`${what} failed`);
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function fail(message) {
  console.error(`e2e: ${message}`);
  process.exit(1);
}
