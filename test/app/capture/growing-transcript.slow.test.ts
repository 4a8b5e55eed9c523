import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Agent } from '../../../src/agents/agent.ts';
import { claudeCodeAgent } from '../../../src/agents/claude-code/transcript.ts';
import { codexAgent } from '../../../src/agents/codex/transcript.ts';
import { copilotAgent } from '../../../src/agents/copilot/transcript.ts';

import { geminiAgent } from '../../../src/agents/gemini/transcript.ts';
import { piAgent } from '../../../src/agents/pi/transcript.ts';
import { qwenAgent } from '../../../src/agents/qwen/transcript.ts';
import { anyTranscript } from '../../fixtures/agents/any-claude-code.ts';
import * as claudeCode from '../../fixtures/agents/claude-code.ts';
import * as codex from '../../fixtures/agents/codex.ts';
import * as copilot from '../../fixtures/agents/copilot.ts';
import * as gemini from '../../fixtures/agents/gemini.ts';
import * as pi from '../../fixtures/agents/pi.ts';
import * as qwen from '../../fixtures/agents/qwen.ts';
import { expectToGrow, expectToTell, type Growth } from '../../support/growing.ts';
import { makeFolder, makeMachine } from '../../support/temp-store.ts';
import { tornBytes } from '../../support/torn-bytes.ts';
import { toJsonLines } from '../../support/transcripts.ts';

interface Case {
  agent: Agent;
  /** Below a home folder, where the agent would put it. */
  name: string;
  story: string;
  /** Something that is taken back. */
  ending: string;
  more: string;
}

const ROLLOUT = `.codex/sessions/2026/01/31/rollout-2026-01-31T12-00-00-${codex.THREAD}.jsonl`;
const rolledBack = [
  codex.event('user_message', { message: 'Drop the retry again' }),
  codex.event('agent_message', { message: 'The retry is gone.' }),
  codex.event('thread_rolled_back', { num_turns: 1 }),
  codex.event('user_message', { message: 'Keep the retry' }),
];

function endClaudeCode(): Pick<Case, 'ending' | 'more'> {
  const t = claudeCode.makeStory();
  const told = t.text;
  const before = t.lastUuid;
  t.human('Drop the retry again');
  t.say('The retry is gone.');
  t.returnTo(before);
  t.human('Keep the retry');
  const ended = t.text;
  t.say('It stays.');
  return { ending: ended.slice(told.length), more: t.text.slice(ended.length) };
}

function endGemini(): Pick<Case, 'ending' | 'more'> {
  const chat = gemini.makeStory();
  const told = chat.text;
  const wrong = chat.human('Drop the retry again');
  chat.say('The retry is gone.');
  chat.rewind(wrong);
  chat.human('Keep the retry');
  const ended = chat.text;
  chat.say('It stays.');
  return { ending: ended.slice(told.length), more: chat.text.slice(ended.length) };
}

function endQwen(): Pick<Case, 'ending' | 'more'> {
  const chat = qwen.makeStory();
  const told = chat.text;
  const before = chat.lastUuid;
  chat.human('Drop the retry again');
  chat.say('The retry is gone.');
  chat.rewind(before);
  chat.human('Keep the retry');
  const ended = chat.text;
  chat.say('It stays.');
  return { ending: ended.slice(told.length), more: chat.text.slice(ended.length) };
}

function endCopilot(): Pick<Case, 'ending' | 'more'> {
  const wrong = copilot.said('Drop the retry again');
  const rewind = copilot.row('session.snapshot_rewind', { upToEventId: wrong.id, eventsRemoved: 2 });
  const ending = [wrong, copilot.answered('The retry is gone.'), rewind, copilot.said('Keep the retry')];
  return { ending: toJsonLines(ending), more: toJsonLines([copilot.answered('It stays.')]) };
}

function endPi(): Pick<Case, 'ending' | 'more'> {
  const last = pi.STORY_ROWS.length - 1;
  const say = (id: string, parent: string, text: string): unknown =>
    pi.entry('message', id, parent, { message: pi.user(text) });
  const before = String(pi.STORY_ROWS[last]?.id);
  const ending = [say('w1', before, 'Drop the retry again'), say('k1', before, 'Keep the retry')];
  return { ending: toJsonLines(ending), more: toJsonLines([say('k2', 'k1', 'All of it')]) };
}

const CASES: readonly Case[] = [
  {
    agent: claudeCodeAgent,
    name: `.claude/projects/-home-ann-shop/${claudeCode.SESSION_ID}.jsonl`,
    story: claudeCode.makeStory().text,
    ...endClaudeCode(),
  },
  {
    agent: codexAgent,
    name: ROLLOUT,
    story: toJsonLines(codex.legacyStory()),
    ending: toJsonLines(rolledBack),
    more: toJsonLines([codex.event('agent_message', { message: 'It stays.' })]),
  },
  {
    agent: codexAgent,
    name: ROLLOUT,
    story: toJsonLines(codex.paginatedStory()),
    ending: toJsonLines(codex.number(rolledBack, 1000)),
    more: toJsonLines(codex.number([codex.event('agent_message', { message: 'It stays.' })], 2000)),
  },
  {
    agent: geminiAgent,
    name: '.gemini/tmp/shop/chats/session-2026-01-31T09-00-4811c0de.jsonl',
    story: gemini.makeStory().text,
    ...endGemini(),
  },
  {
    agent: qwenAgent,
    name: `.qwen/projects/-home-ann-shop/chats/${qwen.SESSION_ID}.jsonl`,
    story: qwen.makeStory().text,
    ...endQwen(),
  },
  {
    agent: copilotAgent,
    name: `.copilot/session-state/${copilot.SESSION}/events.jsonl`,
    story: toJsonLines(copilot.story()),
    ...endCopilot(),
  },
  {
    agent: piAgent,
    name: `.pi/agent/sessions/--home-ann-shop--/2026-01-31T12-00-00-000Z_${pi.SESSION_ID}.jsonl`,
    story: pi.writeRows(),
    ...endPi(),
  },
];

/** Where each line ends, and places within it. */
function findPlaces(text: string): { ends: number[]; within: number[] } {
  const ends = [...Buffer.from(text).entries()].flatMap(([at, byte]) => (byte === 0x0a ? [at + 1] : []));
  const within = ends.flatMap((end, index) => {
    const start = ends[index - 1] ?? 0;
    return [0.2, 0.5, 0.8].map((share) => start + Math.floor(share * (end - start))).concat(end - 1);
  });
  return { ends, within };
}

describe.each(CASES)('a transcript of $agent.name that grows', ({ agent, name, story, ending, more }) => {
  const prepare = (text: string): Growth => {
    const machine = makeMachine(makeFolder());
    return { agent, machine, content: Buffer.from(text), path: join(machine.home ?? '', name) };
  };
  const grow = (text: string, cuts: readonly number[]): number[] => expectToGrow(prepare(text), cuts);

  it('is read on from the last complete line', () => {
    const cuts = findPlaces(story).ends.slice(-6, -1);
    const beginnings = grow(story, cuts);
    expect(beginnings).toEqual([0, ...cuts]);
  });

  it('gives the same events as one complete reading, wherever it was cut and whatever its bytes', () => {
    const whole = Buffer.from(story + ending + more);
    const content = fc.oneof(fc.constant(whole), tornBytes(whole));
    const cuts = fc.array(fc.noBias(fc.nat({ max: whole.length })), { maxLength: 5 });
    fc.assert(
      fc.property(content, cuts, (bytes, places) => {
        const within = places.filter((place) => place < bytes.length);
        expectToGrow({ ...prepare(''), content: bytes }, within);
        expectToTell({ ...prepare(''), content: bytes }, within);
      }),
      { numRuns: 40 },
    );
  });

  it('can be read while a line is being written', () => {
    const content = story + ending + more;
    const { ends, within } = findPlaces(content);
    grow(content, [...ends, ...within]);
    expectToTell(prepare(content), [...ends, ...within]);
  });

  it('is read on after a rewind', () => {
    const taken = Buffer.byteLength(story + ending);
    expect(grow(story + ending + more, [taken]).at(-1)).toBe(taken);
  });
});

describe('any transcript of Claude Code', () => {
  it('gives as it grows the same events as one complete reading', () => {
    const cuts = fc.array(fc.noBias(fc.nat({ max: 10_000 })), { minLength: 1, maxLength: 5 });
    const wholeLines = fc.boolean();
    fc.assert(
      fc.property(anyTranscript(), cuts, wholeLines, (text, shares, whole) => {
        const machine = makeMachine(makeFolder());
        const content = Buffer.from(text);
        const path = join(machine.home ?? '', '.claude', 'projects', 'p', `${claudeCode.SESSION_ID}.jsonl`);
        const places = shares.map((share) => Math.floor((share * content.length) / 10_000));
        const growth = { agent: claudeCodeAgent, machine, content, path };
        const chosen = whole ? places.map((place) => content.indexOf(0x0a, place) + 1) : places;
        expectToGrow(growth, chosen);
        expectToTell(growth, chosen);
      }),
      { numRuns: 150 },
    );
  });
});
