import { expect } from 'vitest';
import type { RecordedRequest } from './model/server.ts';
import type { Story } from './story.ts';

const ID = '\\d{8}-\\d{6}-[a-z0-9]{4}';
/** From its heading to the end of the message, or to the next heading. */
const BRIEF = new RegExp(`# Handover ${ID} for [\\s\\S]*?(?=# Handover ${ID}|(?![\\s\\S]))`, 'g');
const HINT = new RegExp(`# Handover ${ID}: .*`, 'g');

/** Exactly one brief is in the request, in whichever message, and it describes the story. */
export function expectBrief(request: RecordedRequest, { goal, file, decision }: Story): void {
  const briefs = find(request, BRIEF);
  expect(briefs, describeRequest(request)).toHaveLength(1);
  for (const fact of [goal, file, decision]) expect(briefs[0]).toContain(fact);
}

/** One line names the handover, and nothing more. */
export function expectHint(request: RecordedRequest): void {
  expect(find(request, BRIEF), describeRequest(request)).toEqual([]);
  expect(find(request, HINT), describeRequest(request)).toHaveLength(1);
}

export function expectNothing(request: RecordedRequest): void {
  expect([...find(request, BRIEF), ...find(request, HINT)]).toEqual([]);
}

/** Without what the model itself did: it may have looked at its own transcript. */
function find({ messages }: RecordedRequest, pattern: RegExp): string[] {
  return messages
    .filter(({ role }) => role !== 'call' && role !== 'tool')
    .flatMap(({ text }) => text.match(pattern) ?? []);
}

/** What of a request shows why it is not the expected one: who said something of a handover, and the user's words. */
function describeRequest({ messages }: RecordedRequest): string {
  return messages
    .filter(({ role, text }) => role === 'user' || text.includes('# Handover '))
    .map(({ role, text }) => {
      const at = Math.max(0, text.indexOf('# Handover '));
      return `[${role}] ${text.slice(at, at + 300)}`;
    })
    .join('\n');
}
