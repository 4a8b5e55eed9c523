// Stands for an agent: one process that calls its hooks, one for each line of its input, until that is closed.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const [, , hook = '', agent = ''] = process.argv;

/** @param {{ event: string, input: unknown, cwd?: string }} call */
async function callHook({ event, input, cwd }) {
  const child = spawn(process.execPath, [hook, agent, event], { stdio: ['pipe', 'pipe', 'pipe'], cwd });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (said.stdout += chunk));
  child.stderr.on('data', (chunk) => (said.stderr += chunk));
  child.stdin.on('error', () => child.stdin.destroy());
  child.stdin.end(JSON.stringify(input));
  const status = await new Promise((resolve) => child.on('close', resolve));
  return { status, ...said };
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await callHook(JSON.parse(line)))}\n`);
}
