import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadAgent } from '../../../src/agents/table.ts';
import { SESSION_ID, Transcript } from '../../fixtures/agents/claude-code.ts';
import * as codex from '../../fixtures/agents/codex.ts';
import { makeSandbox, type Sandbox } from '../../support/cli.ts';
import { toJsonLines, writeText } from '../../support/transcripts.ts';

const REQUEST = 'Make the upload retry when the server is busy';

/** The prompt that `handover to` would start an agent with, after it captured what the last one did. */
async function handOver(sandbox: Sandbox, ...args: string[]): Promise<string> {
  return JSON.parse(await sandbox.ok(['to', ...args, '--json'])).prompt;
}

function writeClaude(sandbox: Sandbox, number: number, said: string): void {
  const sessionId = SESSION_ID.replace(/.$/, `${number}`);
  const t = new Transcript({ cwd: sandbox.project, sessionId });
  t.human(said);
  t.say('I look at it.');
  t.call('a', 'Edit', { file_path: join(sandbox.project, 'a.ts'), old_string: 'a', new_string: `b${number}` });
  t.result('a', 'The file has been updated.');
  t.say(`Step ${number} is done.`);
  writeText(
    join(sandbox.home, `.claude/projects/-project/${sessionId}.jsonl`),
    t.text.replaceAll('2026-01-31T', `2026-02-0${number}T`),
  );
}

/** After the first session of Claude Code, before the second. */
function writeCodex(sandbox: Sandbox, said: string): void {
  const rows = [
    codex.meta({ cwd: sandbox.project }),
    codex.event('user_message', { message: said }),
    codex.message('user', said),
    codex.event('agent_message', { message: 'Now the second step.' }),
    codex.call('c', 'exec_command', { cmd: 'npm test' }),
    codex.output('c', codex.exited(0, 'ok')),
  ];
  const path = `.codex/sessions/2026/01/31/rollout-2026-01-31T12-00-00-${codex.THREAD}.jsonl`;
  writeText(join(sandbox.home, path), toJsonLines(rows).replaceAll('2026-01-31T', '2026-02-01T'));
}

describe('a chain of agents that are started by handover to', () => {
  it('keeps the request of the user as it was, and does not grow', async () => {
    const sandbox = makeSandbox();
    mkdirSync(join(sandbox.project, 'src'));
    writeClaude(sandbox, 1, REQUEST);
    const first = await handOver(sandbox, 'codex');
    writeCodex(sandbox, first);
    const second = await handOver(sandbox, 'claude-code');
    writeClaude(sandbox, 2, second);
    const third = await handOver(sandbox, 'codex', '--goal', 'Now the tests');
    writeClaude(sandbox, 3, third);
    const last = await handOver(sandbox, 'gemini');
    for (const prompt of [first, second, third, last]) {
      expect(prompt.split('# Handover ')).toHaveLength(2);
      expect(prompt.split('Continue the work that this handover')).toHaveLength(2);
    }
    for (const prompt of [first, second, third]) expect(prompt).toContain(`Now: "${REQUEST}"`);
    expect(last).toContain('Now: "Now the tests"');
    const { facts } = JSON.parse(await sandbox.ok(['show', 'latest', '--json']));
    for (const fact of facts) expect(fact.text).not.toContain('# Handover');
  });

  it('is not what its sessions are called after', async () => {
    const sandbox = makeSandbox();
    writeClaude(sandbox, 1, REQUEST);
    const prompt = await handOver(sandbox, 'codex', '--goal', 'Now the tests');
    writeCodex(sandbox, prompt);
    const agent = await loadAgent('codex');
    const sessions = [...agent.findSessions(sandbox.machine)];
    expect(sessions.map(({ title }) => title)).toEqual(['Now the tests']);
  });
});
