import { join } from 'node:path';
import type { Handover } from '../../src/model/handover.ts';
import { SESSION_ID, Transcript } from '../fixtures/agents/claude-code.ts';
import type { Sandbox } from './cli.ts';
import { writeText } from './transcripts.ts';

export const OTHER_ID = '7c1d8e1f-5c6f-4a1b-8e68-1d2a8d3baf22';

/** Captures a session in which these things were said, after each other. */
export async function capture(
  sandbox: Sandbox,
  words: readonly string[],
  { id = SESSION_ID, day = 1 } = {},
): Promise<Handover> {
  const t = new Transcript({ cwd: sandbox.project, sessionId: id, timestamp: `2026-02-0${day}T09:00:00.000Z` });
  t.human('Go on with the work on the parser');
  for (const text of words) t.say(text);
  const path = writeText(join(sandbox.home, '.claude/projects/-p', `${id}.jsonl`), t.text);
  return await sandbox.json(['capture', '--transcript', path]);
}

/** The id of the fact of the newest handover that has this text. */
export async function idOf(sandbox: Sandbox, text: string): Promise<string> {
  const { facts } = await sandbox.json<Handover>(['show']);
  return facts.find((fact) => fact.text.includes(text))?.id ?? '';
}

export const QUEUE = 'We decided to use a queue for the uploads.';
