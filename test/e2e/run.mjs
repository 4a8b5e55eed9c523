// Runs real agents against a scripted model: npm run e2e [-- --agent codex …] [-- FILE …]
// Installs the agents that are asked for into .cache/e2e, in the versions that test/e2e/agents pins.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const MANIFESTS = resolve(import.meta.dirname, 'agents');
const CACHE = resolve(import.meta.dirname, '../../.cache/e2e');
const INSTALL_MS = 180_000;
const SCENARIOS_MS = 1_800_000;

const known = readdirSync(MANIFESTS).sort();
const { values, positionals } = parseArgs({
  options: { agent: { type: 'string', multiple: true } },
  allowPositionals: true,
});
const chosen = [...new Set(values.agent ?? known)];
const unknown = chosen.filter((agent) => !known.includes(agent));
if (unknown.length > 0)
  fail(`not an agent of these tests: ${unknown.join(', ')}; there are ${known.join(', ')}`);

for (const agent of chosen) install(agent);
run('npm', ['run', '--silent', 'build'], { what: 'the build', timeout: INSTALL_MS });
run('npx', ['--no-install', 'vitest', 'run', '--config', 'test/e2e/vitest.config.ts', ...positionals], {
  what: 'a scenario',
  timeout: SCENARIOS_MS,
  env: { HANDOVER_E2E_AGENTS: chosen.join(' ') },
});

function install(agent) {
  const folder = join(CACHE, agent);
  const [name, version] = Object.entries(readJson(join(MANIFESTS, agent, 'package.json')).dependencies)[0];
  const installed = join(folder, 'node_modules', name, 'package.json');
  if (existsSync(installed) && readJson(installed).version === version) return;
  console.log(`installing ${name} ${version}`);
  mkdirSync(folder, { recursive: true });
  for (const file of ['package.json', 'package-lock.json'])
    copyFileSync(join(MANIFESTS, agent, file), join(folder, file));
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    what: `installing ${agent}`,
    timeout: INSTALL_MS,
    cwd: folder,
  });
}

function run(program, args, { what, timeout, cwd, env }) {
  const { status, error } = spawnSync(program, args, {
    cwd,
    timeout,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  if (error !== undefined) fail(`${what} did not finish: ${error.message}`);
  if (status !== 0) fail(`${what} failed`);
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function fail(message) {
  console.error(`e2e: ${message}`);
  process.exit(1);
}
