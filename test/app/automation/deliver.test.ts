import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadAgent } from '../../../src/agents/table.ts';
import { writeBrief, writeHint } from '../../../src/app/automation/deliver.ts';
import type { PreparedBrief } from '../../../src/app/automation/prepared-briefs.ts';
import { saveSession } from '../../../src/app/capture/save-session.ts';
import { compileBrief } from '../../../src/handover/brief/compile.ts';
import { findReader } from '../../../src/handover/brief/reader.ts';
import { cleanLine } from '../../../src/model/text.ts';
import { openStore } from '../../../src/store/store.ts';
import { message } from '../../fixtures/agents/codex.ts';
import { row } from '../../fixtures/agents/copilot.ts';
import { STORIES } from '../../fixtures/agents/stories.ts';
import { makeSandbox } from '../../support/cli.ts';
import { STORY_CWD } from '../../support/conformance/agents.ts';
import { PREPARED_BRIEF } from '../../support/prepared-brief.ts';
import { writeText } from '../../support/transcripts.ts';

const READY: PreparedBrief = { ...PREPARED_BRIEF, marks: {} };
const NO_CHANGES = { files: [], head: null, isOnOther: false, ended: [] };

/** How each agent records what a hook printed. Some escape it. */
const WRITTEN: Readonly<Record<string, (given: string) => unknown[]>> = {
  'claude-code': (given) => [
    {
      type: 'attachment',
      uuid: 'given',
      attachment: { type: 'hook_additional_context', hookEvent: 'SessionStart', content: [given] },
    },
  ],
  codex: (given) => [message('developer', given)],
  gemini: (given) => {
    const escaped = given.replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    const text = `<hook_context>${escaped}</hook_context>\n\n`;
    return [{ id: 'given', timestamp: '2026-01-31T09:30:00.000Z', type: 'user', content: [{ text }] }];
  },
  copilot: (given) => [
    row('hook.end', { hookType: 'sessionStart', success: true, output: { additionalContext: given } }),
  ],
};

describe('a delivered brief is not captured again', () => {
  it.each(Object.entries(WRITTEN))('by %s, in ten sessions', async (name, write) => {
    const sandbox = makeSandbox();
    const story = STORIES.find((one) => one.agent === name);
    const path = join(sandbox.home, story?.place ?? '');
    const store = openStore(sandbox.machine);
    const agent = await loadAgent(story?.agent ?? 'pi');
    const reader = findReader(name);
    let text = story?.text.replaceAll(STORY_CWD, sandbox.project) ?? '';
    const rounds: string[] = [];
    const ids = new Set<string>();
    for (let round = 0; round < 10; round++) {
      writeText(path, text);
      const session = agent.inspectFile(path);
      if (session === null || reader === null) throw new Error('nothing was found');
      const kept = await saveSession(store, { agent, session });
      if (kept.outcome === 'refused') throw new Error('nothing was understood');
      ids.add(kept.handover.id);
      const brief = compileBrief(kept.handover, reader).text;
      const telling = {
        why: 'after compaction',
        ageMs: 0,
        changes: NO_CHANGES,
        isRepeated: round > 0,
      };
      const given = writeBrief(brief, telling);
      rounds.push(given.replace(', again', ''));
      text += write(given)
        .map((one) => `${JSON.stringify(one)}\n`)
        .join('');
    }
    expect(ids.size).toBe(1);
    expect(new Set(rounds).size).toBe(1);
    expect(rounds[0]?.split('# Handover ')).toHaveLength(2);
  });
});

describe('the hint of a hook', () => {
  it('is one line with the title in quotes, whatever the title', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('a"b', '“x”', '\n# Handover\n> y', '\u202e\u0007'),
    );
    fc.assert(
      fc.property(text, (title) => {
        const hint = writeHint({ ...READY, title: cleanLine(title) }, 0, 'the command: handover render');
        expect(hint.split('\n')).toHaveLength(1);
        expect(hint.match(/["“”]/g)).toHaveLength(2);
        expect(hint).toMatch(/^# Handover 20260131-120000-k3fz: /);
      }),
    );
  });
});

describe('a delivered brief', () => {
  const brief = '# Handover 20260131-120000-k3fz for Claude Code\n# Quoted lines\n<handover>\n> one\n</handover>\n';
  const telling = {
    why: 'resumed',
    ageMs: 5 * 60_000,
    changes: NO_CHANGES,
    isRepeated: false,
  };

  it('says at its top why it is delivered, and what changed since', () => {
    const files = ['a.ts', 'b.ts', 'c.ts', 'd.ts', 'e.ts', 'f.ts'];
    const head = { before: 'a'.repeat(40), after: 'b'.repeat(40) };
    const ended = ['node server.js'];
    expect(
      writeBrief(brief, { ...telling, changes: { files, head, isOnOther: true, ended }, isRepeated: true }).split('\n'),
    ).toEqual([
      '# Handover 20260131-120000-k3fz for Claude Code',
      '# Given by agent-handover (resumed, again), 5 minutes after it was made.',
      '# Since then: 6 files changed, another branch was checked out, 1 background command ended, HEAD moved from aaaaaaaaaaaa to bbbbbbbbbbbb. Check before you rely on what it says about them.',
      '> changed since: a.ts, b.ts, c.ts, d.ts, e.ts and 1 more',
      '> no longer runs: node server.js',
      '# Quoted lines',
      '<handover>',
      '> one',
      '</handover>',
    ]);
  });
});
