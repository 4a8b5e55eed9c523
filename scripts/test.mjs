// npm test:                 builds, then runs every test that is not slow
// npm run test:full:        the slow ones: sweeps, damage, races, hundreds of processes; then the crash tests and the fuzzer
// npm run test:full -- DIR: every test below DIR, quick and slow
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

const [mode, ...args] = process.argv.slice(2);

/** @param {string} command @param {readonly string[]} args */
function run(command, args) {
  const { status } = spawnSync(command, args, { stdio: 'inherit', shell: process.platform === 'win32' });
  if (status !== 0) process.exit(status ?? 1);
}

const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.test.ts') && !file.startsWith('e2e'),
);
const slow = files.filter((file) => file.endsWith('.slow.test.ts'));

/** @param {readonly string[]} names */
function listFolders(names) {
  return [...new Set(names.map((name) => name.split(/[\\/.]/)[0]))].sort().join(', ');
}

run('npm', ['run', '--silent', 'build']);
if (mode === 'quick') {
  run('npx', ['vitest', 'run', '--project', 'quick', ...args]);
  console.log(`\nCovered: ${files.length - slow.length} files of ${listFolders(files)}.`);
  console.log(
    `Not run: ${slow.length} slow files (sweeps, damage, races, hundreds of processes) of ${listFolders(slow)}, crash tests, fuzzing: npm run test:full. Real agents: npm run e2e.`,
  );
} else if (args.length > 0) {
  run('npx', ['vitest', 'run', ...args]);
} else {
  run('npx', ['vitest', 'run', '--project', 'slow']);
  run('node', ['test/crash/run.mjs', '--quick']);
  run('node', ['scripts/fuzz.mjs', '--count', '100000']);
}
