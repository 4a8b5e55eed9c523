import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Transcript } from '../../fixtures/agents/claude-code.ts';
import { makeSandbox, type Sandbox } from '../../support/cli.ts';
import { toJsonLines, writeText } from '../../support/transcripts.ts';

interface Row {
  agent: string;
  title: string | null;
}

/** The head of a rollout of Codex, with instructions as long as real ones are. */
function writeCodex({ home, project }: Sandbox, words: string): void {
  const id = '019ed893-d2a6-7c30-a8b8-5a8a49cfa23e';
  const message = (role: string, text: string): object => ({
    ...{ timestamp: '2026-06-18T02:33:50.000Z', type: 'response_item' },
    payload: { type: 'message', role, content: [{ type: 'input_text', text }] },
  });
  const rows = [
    {
      timestamp: '2026-06-18T02:33:46.955Z',
      type: 'session_meta',
      payload: { id, cwd: project, cli_version: '0.140.0' },
    },
    message('developer', `<permissions instructions>\n${'rule '.repeat(20_000)}`),
    message(
      'user',
      `# AGENTS.md instructions for ${project}\n\n<INSTRUCTIONS>\n${'more '.repeat(20_000)}</INSTRUCTIONS>`,
    ),
    message('user', words),
    { timestamp: '2026-06-18T02:33:51.000Z', type: 'event_msg', payload: { type: 'user_message', message: words } },
  ];
  writeText(join(home, '.codex/sessions/2026/06/18', `rollout-2026-06-18T02-33-46-${id}.jsonl`), toJsonLines(rows));
}

function writePi({ home, project }: Sandbox, words: string): void {
  const rows = [
    {
      type: 'session',
      version: 3,
      id: '0a1b2c3d-0000-4000-8000-000000000001',
      timestamp: '2026-06-18T02:33:46.955Z',
      cwd: project,
    },
    {
      ...{ type: 'message', id: 'a1', parentId: null, timestamp: '2026-06-18T02:33:47.000Z' },
      message: { role: 'user', content: words, timestamp: 1 },
    },
  ];
  writeText(join(home, '.pi/agent/sessions/--p--/2026_x.jsonl'), toJsonLines(rows));
}

describe('handover sessions', () => {
  it('dates and orders by the last event, not by when the file was copied', async () => {
    const sandbox = makeSandbox();
    writeCodex(sandbox, 'Close the issue');
    writePi(sandbox, 'Close the other one');
    const rows = await sandbox.json<{ agent: string; changed_at: string }[]>(['sessions']);
    expect(rows.map(({ agent, changed_at }) => [agent, changed_at])).toEqual([
      ['codex', '2026-06-18T02:33:51.000Z'],
      ['pi', '2026-06-18T02:33:47.000Z'],
    ]);
    expect(await sandbox.json(['sessions', '--since', '2026-06-19'])).toEqual([]);
    expect(await sandbox.json(['sessions', '--since', 'yesterday'])).toEqual([]);
  });

  it('shows one line of what was asked, wherever in the transcript it is', async () => {
    const sandbox = makeSandbox();
    const words = 'Close the\u001b[31m issue\nand then the other one';
    writeCodex(sandbox, words);
    writePi(sandbox, words);
    writeText(
      join(sandbox.project, '.aider.chat.history.md'),
      '# aider chat started at 2026-05-22 10:00:00\n\n#### Close the issue  \n',
    );
    const rows = await sandbox.json<Row[]>(['sessions']);
    expect(rows.map(({ agent }) => agent).sort()).toEqual(['aider', 'codex', 'pi']);
    expect(rows.map(({ title }) => title)).toEqual(Array.from({ length: 3 }, () => 'Close the issue'));
    const lines = (await sandbox.ok(['sessions'])).trimEnd().split('\n');
    expect(lines.filter((line) => line.endsWith('Close the issue'))).toHaveLength(3);
    expect(lines).toHaveLength(6);
  });

  it('redacts what it finds so late', async () => {
    const sandbox = makeSandbox();
    writeCodex(sandbox, `Use ghp_${'a1'.repeat(18)} to log in`);
    const [row] = await sandbox.json<Row[]>(['sessions']);
    expect(row?.title).toMatch(/^Use \[redacted:github-token:\w{8}\] to log in$/);
  });

  it('says where nothing was asked yet', async () => {
    const sandbox = makeSandbox();
    const transcript = new Transcript({ cwd: sandbox.project, sessionId: '5b0c7f0e-4b5e-4f0a-9d57-000000000001' });
    transcript.say('Hello.');
    writeText(join(sandbox.home, '.claude/projects/-p/5b0c7f0e-4b5e-4f0a-9d57-000000000001.jsonl'), transcript.text);
    expect(await sandbox.ok(['sessions'])).toContain('nothing asked yet\n');
    expect((await sandbox.json<Row[]>(['sessions']))[0]?.title).toBeNull();
  });

  it('shows calls as calls with their tool, in order, and the same from the archive', async () => {
    const sandbox = makeSandbox();
    const id = '5b0c7f0e-4b5e-4f0a-9d57-000000000001';
    const transcript = new Transcript({ cwd: sandbox.project, sessionId: id });
    transcript.human('Fix the login');
    transcript.call('toolu_1', 'Bash', { command: 'npm test' });
    transcript.call('toolu_2', 'mcp__tracker__find', { query: 'login' });
    transcript.result('toolu_1', '3 passed');
    transcript.result('toolu_2', 'issue 7');
    transcript.say('Done.');
    writeText(join(sandbox.home, `.claude/projects/-p/${id}.jsonl`), transcript.text);
    const text = await sandbox.ok(['sessions', id]);
    const heads = [...text.matchAll(/^line \d+ .*? {2}(human|agent|tool)(.*)\n(.*)$/gm)].map(([, ...parts]) => parts);
    expect(heads).toEqual([
      ['human', '', 'Fix the login'],
      ['agent', ' calls Bash', 'npm test'],
      ['agent', ' calls mcp__tracker__find', 'mcp__tracker__find login'],
      ['tool', '', '3 passed'],
      ['tool', '', 'issue 7'],
      ['agent', '', 'Done.'],
    ]);
    const { passages } = await sandbox.json<{ passages: { tool: string | null }[] }>(['sessions', id]);
    expect(passages.map(({ tool }) => tool)).toEqual([null, 'Bash', 'mcp__tracker__find', null, null, null]);
    await sandbox.ok(['search', '--sessions']);
    writeText(join(sandbox.home, `.claude/projects/-p/${id}.jsonl`), '');
    const archived = await sandbox.json<{ gone: boolean; passages: unknown }>(['sessions', id]);
    expect([archived.gone, archived.passages]).toEqual([true, passages]);
  });
});
