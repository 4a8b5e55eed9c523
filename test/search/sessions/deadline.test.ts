import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { search } from '../../../src/search/search.ts';
import { Transcript } from '../../fixtures/agents/claude-code.ts';
import { makeFolder, makeStore, NOON } from '../../support/temp-store.ts';
import { writeText } from '../../support/transcripts.ts';

const SESSIONS = 40;

describe('a search of sessions that has little time', () => {
  it('answers with the sessions that it could read, says how many are left, and reads on the next time', async () => {
    let ms = NOON;
    // Time passes with every look at the clock.
    const clock = { now: () => (ms += 10), set: (): void => undefined };
    const folder = makeFolder();
    const store = makeStore({ clock, home: folder });
    for (let number = 0; number < SESSIONS; number++) {
      const sessionId = `5b0c7f0e-4b5e-4f0a-9d57-${String(number).padStart(12, '0')}`;
      const t = new Transcript({ sessionId, cwd: store.machine.cwd });
      t.human(`Number ${number} of the quinces`);
      writeText(join(folder, '.claude/projects/-p', `${sessionId}.jsonl`), t.text);
    }
    const ask = async (budget: { sessionsBudgetMs?: number }) => {
      const { hits, sessions } = await search({ store, ...budget }, { text: 'quinces', sessions: true, limit: 100 });
      return { found: hits.length, behind: sessions?.behind ?? -1 };
    };
    const first = await ask({ sessionsBudgetMs: 400 });
    expect(first.found).toBeGreaterThan(0);
    expect(first.behind).toBe(SESSIONS - first.found);
    const second = await ask({ sessionsBudgetMs: 400 });
    expect(second.found).toBeGreaterThan(first.found);
    expect(await ask({})).toEqual({ found: SESSIONS, behind: 0 });
  });
});
