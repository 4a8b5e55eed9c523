import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inspectTranscript } from '../../src/agents/find-session.ts';
import { countTokens } from '../../src/agents/token-usage.ts';
import { Transcript } from '../fixtures/agents/claude-code.ts';
import { makeTempFolder } from '../support/cli.ts';
import { toJsonLines, writeText } from '../support/transcripts.ts';

it('the tokens of Claude Code are counted once a message, without those from a cache', async () => {
  const t = new Transcript();
  const usage = (output_tokens: number) => ({
    ...{ input_tokens: 10, cache_creation_input_tokens: 200, cache_read_input_tokens: 50_000, output_tokens },
  });
  const say = (id: string, text: string, output: number): void => {
    const message = { id, type: 'message', role: 'assistant', content: [{ type: 'text', text }], usage: usage(output) };
    t.row({ message, type: 'assistant' });
  };
  t.human('Go on');
  say('msg_1', 'First', 1);
  say('msg_1', 'more of it', 30);
  say('msg_2', 'Second', 40);
  const path = writeText(join(makeTempFolder(), 'one.jsonl'), t.text);
  const { session } = await inspectTranscript(path);
  expect(countTokens(session, { from: 1, to: 3 })).toBe(240);
  expect(countTokens(session, { from: 1, to: 4 })).toBe(490);
  expect(countTokens(session, { from: 1, to: 1 })).toBeNull();
});

it('the tokens of Codex are counted once a request, and those of other agents are not known', () => {
  const count = (total_tokens: number, input: number, cached: number) => ({
    timestamp: '2026-01-31T09:00:00.000Z',
    type: 'event_msg',
    payload: {
      type: 'token_count',
      info: {
        total_token_usage: { total_tokens },
        last_token_usage: { input_tokens: input, cached_input_tokens: cached, output_tokens: 5 },
      },
    },
  });
  const rows = [
    count(100, 90, 0),
    count(100, 90, 0),
    count(250, 140, 60),
    { type: 'event_msg', payload: { type: 'token_count', info: null } },
  ];
  const path = writeText(join(makeTempFolder(), 'rollout.jsonl'), toJsonLines(rows));
  const session = { id: 'x', path, cwd: null, title: null, startedMs: null, changedMs: 0, bytes: 0, parent: null };
  expect(countTokens({ agent: 'codex', ...session }, { from: 1, to: 9 })).toBe(95 + 85);
  expect(countTokens({ agent: 'gemini', ...session }, { from: 1, to: 9 })).toBeNull();
});
