import { join } from 'node:path';
import type { Event } from '../../src/model/event.ts';
import { makeStory, SESSION_ID } from '../fixtures/agents/claude-code.ts';
import { makeSandbox, type Sandbox } from './cli.ts';
import { writeText } from './transcripts.ts';

export interface TracedJson {
  id: string;
  transcript: { state: string; path: string | null };
  facts: {
    id: string;
    kind: string;
    text: string;
    sources: { line?: number; state: string; events: Event[] }[];
  }[];
}

/** A captured session, and the path of its transcript. */
export async function captureStory(): Promise<{ sandbox: Sandbox; path: string }> {
  const sandbox = makeSandbox();
  const path = writeText(
    join(sandbox.home, '.claude', 'projects', '-home-ann-shop', `${SESSION_ID}.jsonl`),
    makeStory().text,
  );
  await sandbox.ok(['capture', '--transcript', path, '--print', 'none']);
  return { sandbox, path };
}

export const trace = (sandbox: Sandbox, ...words: string[]): Promise<TracedJson> =>
  sandbox.json<TracedJson>(['show', 'latest', '--events', ...words]);
