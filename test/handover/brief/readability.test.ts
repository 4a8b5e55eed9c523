import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { claudeCodeAgent } from '../../../src/agents/claude-code/transcript.ts';

import { isChatter } from '../../../src/distill/prose.ts';
import { compileBrief } from '../../../src/handover/brief/compile.ts';
import { HEADINGS } from '../../../src/handover/brief/sections.ts';
import type { Event } from '../../../src/model/event.ts';
import type { Handover } from '../../../src/model/handover.ts';
import { readTranscript } from '../../support/read-transcript.ts';
import { requireReader, sealSession } from '../../support/rendered.ts';

const SESSIONS = 'test/fixtures/sessions';
const BUDGETS = [500, 1000, 2000, 4000];

interface Line {
  heading: string;
  /** Without quote mark, dash and source. */
  text: string;
  bytes: number;
}

/** What a brief says, line by line. */
function readLines(brief: string): Line[] {
  let heading = '';
  return brief.split('\n').flatMap((line) => {
    if (line.startsWith('## ')) heading = line.slice(3);
    if (!line.startsWith('> ')) return [];
    const text = line
      .slice(2)
      .replace(/^- /, '')
      .replace(/ @\d+$/, '');
    return [{ heading, text, bytes: Buffer.byteLength(line) }];
  });
}

/** Each session whole, and as it stood when its context was first compacted. */
function writeTwice(events: readonly Event[]): Event[][] {
  const cut = events.findIndex((event) => event.type === 'compaction');
  return cut === -1 ? [[...events]] : [[...events], events.slice(0, cut)];
}

const files = readdirSync(SESSIONS).filter((name) => name.endsWith('.jsonl'));
const STATEMENTS = new Set([HEADINGS.said, HEADINGS.references, HEADINGS.decisions, HEADINGS.notes]);
const LISTS = new Set([HEADINGS.changed, HEADINGS.files, HEADINGS.tree]);
const HUMAN = new Set([HEADINGS.current, HEADINGS.first, HEADINGS.messages, HEADINGS.constraints]);
const LONGEST: ReadonlyMap<string, number> = new Map([
  [HEADINGS.said, 520],
  [HEADINGS.references, 520],
  [HEADINGS.checks, 340],
  [HEADINGS.errors, 220],
  [HEADINGS.questions, 320],
  [HEADINGS.tasks, 280],
]);
const LONGEST_OF_ALL = 1650;

describe.each(files)('the briefs of %s', (file) => {
  const { events } = readTranscript(claudeCodeAgent, join(SESSIONS, file));
  const briefs = writeTwice(events).flatMap((told) => {
    const handover: Handover = sealSession(told);
    return BUDGETS.map((budget) => ({
      handover,
      lines: readLines(compileBrief(handover, requireReader('generic'), { budget }).text),
    }));
  });
  const statements = briefs.flatMap(({ lines }) => lines.filter(({ heading }) => STATEMENTS.has(heading)));

  it('have a statement of substance in every item', () => {
    expect(statements.length).toBeGreaterThan(0);
    for (const { text } of statements) expect(isChatter(text), text).toBe(false);
  });

  it('have no code, table row or emphasis mark as a statement', () => {
    for (const { text } of statements) {
      expect(text).not.toMatch(/^\||[;{}]$|^(?:const|let|import|export|def|func|fn|class|return)\b.*[({=:]$/);
      expect(text).not.toMatch(/^[\w.]+\(.*\)$|^```|^#{1,6} /);
      expect(text.replace(/`[^`]*`/g, '')).not.toMatch(/\*\*\w|\w\*\*/);
    }
  });

  it('cut no word and no name in half', () => {
    for (const { handover, lines } of briefs) {
      const texts = handover.facts.map((fact) => fact.text.replace(/\s+/g, ' '));
      for (const { text } of lines) {
        if (!text.endsWith('…')) continue;
        const shown = text.slice(text.startsWith('… ') ? 2 : 0, -1).trimEnd();
        for (const whole of texts.filter((one) => one.startsWith(shown)))
          expect(`${shown}|${whole.slice(shown.length, shown.length + 20)}`).not.toMatch(/\w\|\w/);
      }
    }
  });

  it('have no line that is too long to read', () => {
    for (const { lines } of briefs)
      for (const { heading, text, bytes } of lines)
        expect(bytes, text).toBeLessThanOrEqual(LONGEST.get(heading) ?? LONGEST_OF_ALL);
  });

  it('repeat nothing', () => {
    for (const { lines } of briefs) {
      const spoken = lines.filter(({ heading }) => !LISTS.has(heading));
      for (const [index, line] of spoken.entries()) {
        const others = spoken.filter(
          (other, at) => at !== index && (HUMAN.has(other.heading) || !HUMAN.has(line.heading)),
        );
        if (line.heading !== HEADINGS.tasks && line.text.length > 3)
          expect(others.map(({ text }) => text).filter((text) => text.includes(line.text))).toEqual([]);
      }
    }
  });
});
