// Stands for Claude Code: one process that runs the hooks in its settings, one for each line of its input, until it is killed.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const { hooks } = JSON.parse(readFileSync(join(process.env.HOME ?? '', '.claude/settings.json'), 'utf8'));

for await (const line of createInterface({ input: process.stdin })) {
  const input = JSON.parse(line);
  for (const { command } of hooks[input.hook_event_name].flatMap(({ hooks: handlers }) => handlers)) {
    const child = spawn(command, { shell: true, stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin.end(line);
    await new Promise((resolve) => child.on('close', resolve));
  }
  process.stdout.write('done\n');
}
