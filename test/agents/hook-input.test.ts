import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findHook } from '../../src/agents/hook-dialects.ts';
import { HOOK_EVENTS } from '../../src/agents/hook-input.ts';

const HOOKS = Object.entries(HOOK_EVENTS).flatMap(([agent, events]) =>
  Object.keys(events).map((event): [string, string] => [agent, event]),
);
const KEYS = ['session_id', 'sessionId', 'taskId', 'sessionContext', 'workspaceRoots', 'cwd', 'source', 'turn'];

describe('hook input', () => {
  it.each(HOOKS)('of %s %s may be any object, and only a session named in it is found', (agent, event) => {
    const hook = findHook(agent, event);
    const value = fc.oneof(
      fc.string(),
      fc.jsonValue(),
      fc.dictionary(fc.constantFrom('rootSessionId'), fc.jsonValue()),
    );
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...KEYS), value), (input) => {
        const read = hook?.dialect.read(input, event) ?? null;
        if (read === null) return;
        expect(read.session).not.toBe('');
        expect(JSON.stringify(input)).toContain(JSON.stringify(read.session));
        expect(read.cwd === null || typeof read.cwd === 'string').toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  it.each(HOOKS)('of %s %s is answered by one JSON document on one line, whatever the text', (agent, event) => {
    const hook = findHook(agent, event);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const printed = hook?.dialect.write(event, text) ?? '';
        expect(printed).not.toContain('\n');
        expect(JSON.stringify(JSON.parse(printed))).toContain(JSON.stringify(text));
      }),
      { numRuns: 20 },
    );
  });

  it('is handled only for the exact names of an agent and its event', () => {
    expect(findHook('claude-code', 'Stop')).toMatchObject({ moment: 'turn' });
    for (const [agent, event] of [
      ['claude-code', 'agentStop'],
      ['Claude-Code', 'Stop'],
      ['constructor', 'name'],
      ['codex', '__proto__'],
    ])
      expect(findHook(agent ?? '', event ?? '')).toBeNull();
  });
});
