import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Event } from '../../../src/model/event.ts';
import { makeStory, SESSION_ID } from '../../fixtures/agents/claude-code.ts';
import { makeSandbox, type Sandbox } from '../../support/cli.ts';
import { writeText } from '../../support/transcripts.ts';

interface TracedJson {
  id: string;
  transcript: { state: string; path: string | null };
  facts: {
    id: string;
    kind: string;
    text: string;
    sources: { line?: number; state: string; events: Event[] }[];
  }[];
}

async function captureStory(): Promise<{ sandbox: Sandbox; path: string }> {
  const sandbox = makeSandbox();
  const path = writeText(
    join(sandbox.home, '.claude', 'projects', '-home-ann-shop', `${SESSION_ID}.jsonl`),
    makeStory().text,
  );
  await sandbox.ok(['capture', '--transcript', path, '--print', 'none']);
  return { sandbox, path };
}

const trace = (sandbox: Sandbox, ...words: string[]): Promise<TracedJson> =>
  sandbox.json<TracedJson>(['show', 'latest', '--events', ...words]);

describe('handover show --events', () => {
  it('shows for every fact the events that it comes from, in full', async () => {
    const { sandbox, path } = await captureStory();
    const { transcript, facts } = await trace(sandbox);
    expect(transcript).toMatchObject({
      state: 'open',
      path: `~/.claude/projects/-home-ann-shop/${SESSION_ID}.jsonl`,
    });
    const told = (kind: string, text: string): unknown[] =>
      facts.find((fact) => fact.kind === kind && fact.text === text)?.sources ?? [];
    expect(told('goal', 'Make the upload retry when the server is busy')).toMatchObject([
      { state: 'told', events: [{ type: 'prompt', text: 'Make the upload retry when the server is busy' }] },
    ]);
    expect(told('check', 'npm test')).toMatchObject([
      {
        events: [
          { type: 'call', action: { command: 'npm test' } },
          { type: 'result', exit: 0, output: '2 passed' },
        ],
      },
    ]);
    expect(told('file', 'src/retry.ts')).toMatchObject([
      { events: [{ type: 'call', action: { kind: 'edit' } }, { type: 'result' }] },
    ]);
    expect(told('task', 'Test the retry')).toMatchObject([{ events: [{ type: 'plan' }] }]);
    const rows = readFileSync(path, 'utf8').split('\n');
    for (const { line = 0, events } of facts.flatMap((fact) => fact.sources)) {
      for (const event of events.filter((one) => one.ref.line === line)) expect(rows[line - 1]).toContain(event.ref.id);
    }
    const states = facts.flatMap((fact) => fact.sources.map((source) => source.state));
    expect(states.filter((state) => state !== 'told' && state !== 'unplaced')).toEqual([]);
  });
});
