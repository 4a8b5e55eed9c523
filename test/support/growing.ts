import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'vitest';
import {
  type Agent,
  type Bookmark,
  startReadStats,
  type Transcript,
  type TranscriptOptions,
} from '../../src/agents/agent.ts';

import { type ReadResult, readSession } from '../../src/app/capture/capture.ts';
import { countEvents } from '../../src/app/capture/drift.ts';
import { distillEvents } from '../../src/distill/distill.ts';
import type { Event } from '../../src/model/event.ts';
import { decodePlainData, encodePlainData } from '../../src/platform/cache-file.ts';
import type { Machine } from '../../src/platform/machine.ts';
import { makeRedactor } from './redactor.ts';

/** What reading all of a transcript gives, without a saved state. Null for a file that is no transcript yet. */
export function readAnew(agent: Agent, path: string): ReadResult | null {
  const session = agent.inspectFile(path);
  if (session === null) return null;
  const reading = startReadStats();
  const events = [...agent.readEvents(session, reading)];
  return { distilled: distillEvents(events), reading, count: countEvents(events) };
}

/** Where readings began: 0 for a whole one. */
export type Beginnings = number[];

/** Reads a transcript as a capture does, and saves the state. */
export function readKept({ agent, path, machine }: Omit<Growth, 'content'>, beginnings: Beginnings): ReadResult | null {
  const session = agent.inspectFile(path);
  if (session === null) return null;
  const watched: Agent = {
    ...agent,
    openTranscript: (opening) => {
      beginnings.push(opening.from?.position.offset ?? 0);
      return agent.openTranscript?.(opening) ?? null;
    },
  };
  return readSession(watched, session, { machine, savesCheckpoint: true, redactor: makeRedactor() });
}

export interface Growth {
  agent: Agent;
  path: string;
  machine: Machine;
  content: Buffer;
}

/**
 * Writes a transcript piece by piece, and after each reads what is new from where it left off: together with what is read
 * only at the end, these must be the events of the whole.
 */
export function expectToTell({ agent, path, content }: Growth, cuts: readonly number[]): void {
  let seen: Event[] = [];
  let from: Bookmark | null = null;
  for (const piece of growFile(path, content, cuts)) {
    const session = agent.inspectFile(path);
    if (session === null) continue;
    const open = (options: Partial<TranscriptOptions>): { transcript: Transcript; events: Event[] } | null => {
      const transcript = agent.openTranscript?.({
        session,
        stats: startReadStats(),
        until: piece,
        ...options,
      });
      const events: Event[] = [];
      return transcript?.read((event) => events.push(event)) ? { transcript, events } : null;
    };
    const resumed = from === null ? null : open({ from });
    const read = resumed ?? open({ lookAhead: true });
    if (read === null) throw new Error('a reading with a look ahead has failed');
    seen = resumed === null ? read.events : [...seen, ...read.events];
    from = copy(read.transcript.mark());
    const ending: Event[] = [];
    if (!read.transcript.finish((event) => ending.push(event))) from = null;
    else expect([...seen, ...ending], `cut at ${piece}`).toEqual([...agent.readEvents(session, startReadStats())]);
  }
}

/** As it is after being saved and loaded. */
function copy(bookmark: Bookmark | null): Bookmark | null {
  const copied: unknown = decodePlainData(encodePlainData(bookmark));
  return isBookmark(copied) ? copied : null;
}

function isBookmark(value: unknown): value is Bookmark {
  return typeof value === 'object' && value !== null && 'position' in value && 'state' in value;
}

/** The sizes that a file has as its content is added to it piece by piece. */
function* growFile(path: string, content: Buffer, cuts: readonly number[]): Generator<number> {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '');
  let written = 0;
  for (const cut of [...cuts, content.length].sort((a, b) => a - b)) {
    appendFileSync(path, content.subarray(written, cut));
    written = cut;
    yield cut;
  }
}

/** Writes a transcript piece by piece and reads it after each, which must give what reading all of it gives. */
export function expectToGrow(growth: Growth, cuts: readonly number[]): Beginnings {
  const { agent, path, content } = growth;
  const beginnings: Beginnings = [];
  for (const cut of growFile(path, content, cuts)) {
    expect(readKept(growth, beginnings), `cut at ${cut}`).toEqual(readAnew(agent, path));
  }
  return beginnings;
}
