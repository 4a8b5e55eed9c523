import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SESSION_ID } from '../../fixtures/agents/claude-code.ts';
import { captureStory, trace } from '../../support/traced-story.ts';

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
