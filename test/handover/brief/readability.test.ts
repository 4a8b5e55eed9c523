import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { claudeCodeAgent } from '../../../src/agents/claude-code/transcript.ts';
import { compileBrief, countTokens } from '../../../src/handover/brief/compile.ts';
import type { Event } from '../../../src/model/event.ts';
import { readTranscript } from '../../support/read-transcript.ts';
import { isOwnLine, requireReader, sealSession } from '../../support/rendered.ts';

const SESSIONS = 'test/fixtures/sessions';
const BUDGETS = [256, 500, 1000, 2000, 4000];
const LONGEST_LINE = 5200;

const NAME = '`?[A-Za-z_$][\\w$.:#<>-]*(?:\\(\\))?`?';
/** Four or more bare names with commas between them. */
const NAME_LIST = new RegExp(`(?:${NAME},\\s+){3,}${NAME}`, 'g');
const LARGEST_SHARE = 0.08;

/** Each session whole, and as it stood when its context was first compacted. */
function cutSessions(events: readonly Event[]): Event[][] {
  const cut = events.findIndex((event) => event.type === 'compaction');
  return cut === -1 ? [[...events]] : [[...events], events.slice(0, cut)];
}

const files = readdirSync(SESSIONS).filter((name) => name.endsWith('.jsonl'));

describe.each(files)('the briefs of %s', (file) => {
  const { events } = readTranscript(claudeCodeAgent, join(SESSIONS, file));
  const briefs = cutSessions(events).flatMap((part) => {
    const handover = sealSession(part);
    return BUDGETS.map((budget) => ({
      handover,
      budget,
      ...compileBrief(handover, requireReader('generic'), { budget }),
    }));
  });

  it('are within their budgets, and all data is on quoted lines', () => {
    for (const { text, budget } of briefs) {
      expect(countTokens(text)).toBeLessThanOrEqual(budget);
      expect(text.split('\n').filter((line) => !line.startsWith('> ') && !isOwnLine(line))).toEqual([]);
    }
  });

  it('use most of their budgets where facts are left out', () => {
    for (const { text, budget, leftOut } of briefs)
      if (leftOut.length > 20) expect(countTokens(text), `${budget}`).toBeGreaterThan(budget * 0.7);
  });

  it('are an account, not lists of names', () => {
    for (const { text } of briefs) {
      const lists = text.match(NAME_LIST) ?? [];
      expect(Buffer.byteLength(lists.join('')) / Buffer.byteLength(text), lists.join(' | ')).toBeLessThanOrEqual(
        LARGEST_SHARE,
      );
    }
  });

  it('begin with where the session stands and what the user wants', () => {
    const first = ['## Where it stands', '## The user', '## Next and open'];
    for (const { text, budget } of briefs) {
      const count = budget < 500 ? 2 : 3;
      expect(text.match(/^## .*$/gm)?.slice(0, count)).toEqual(first.slice(0, count));
    }
  });

  it('have no mark of emphasis, heading or fence of the messages that they quote', () => {
    for (const { text } of briefs)
      for (const line of text.split('\n').filter((one) => one.startsWith('> - '))) {
        expect(line).not.toMatch(/^> - (?:#{1,6} |```)/);
        expect(line.replace(/`[^`]*`/g, '')).not.toMatch(/(?<![\w/*])\*\*\w[^*]*\w\*\*/);
      }
  });

  it('cut no word in half', () => {
    for (const { handover, text } of briefs) {
      const texts = handover.facts.map((fact) => fact.text.replace(/\s+/g, ' '));
      for (const [, shown = ''] of text.matchAll(/^> (?:- |\w+: )?"?([^"\n]{30,}?)…"?$/gm))
        for (const whole of texts.filter((one) => one.startsWith(shown)))
          expect(`${shown}|${whole.slice(shown.length, shown.length + 20)}`).not.toMatch(/\w\|\w/);
    }
  });

  it('have no line that is too long to read', () => {
    for (const { text } of briefs)
      for (const line of text.split('\n')) expect(Buffer.byteLength(line), line).toBeLessThanOrEqual(LONGEST_LINE);
  });
});
