import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Agent } from '../../../src/agents/agent.ts';
import { claudeCodeAgent } from '../../../src/agents/claude-code/transcript.ts';
import { codexAgent } from '../../../src/agents/codex/transcript.ts';

import { qwenAgent } from '../../../src/agents/qwen/transcript.ts';
import type { Event } from '../../../src/model/event.ts';
import { packPart, type SessionHead, unpackParts } from '../../../src/search/sessions/archive.ts';
import { type Passage, PassageMaker, SPEAKERS, splitText } from '../../../src/search/sessions/passage.ts';
import { joinArchive, readSessionText } from '../../../src/search/sessions/read-session.ts';
import { anyTranscript } from '../../fixtures/agents/any-claude-code.ts';
import * as claudeCode from '../../fixtures/agents/claude-code.ts';
import * as codex from '../../fixtures/agents/codex.ts';
import * as qwen from '../../fixtures/agents/qwen.ts';
import { writeSecrets } from '../../fixtures/secrets/write-secrets.ts';
import { makeRedactor } from '../../support/redactor.ts';
import { makeFolder } from '../../support/temp-store.ts';
import { toJsonLines, writeText } from '../../support/transcripts.ts';

const HEAD: SessionHead = {
  agent: 'claude-code',
  id: 'x',
  path: '/x',
  cwd: null,
  title: null,
  project: null,
  startedMs: null,
  changedMs: 0,
  bytes: 0,
};

/** Reads as a search does, from what the last reading left. */
class Reader {
  archive: Buffer | null = null;
  checkpoint: Uint8Array | null = null;
  /** Whether the last reading went on from the one before. */
  wentOn = false;

  readonly agent: Agent;
  readonly path: string;

  constructor(agent: Agent, path: string) {
    this.agent = agent;
    this.path = path;
  }

  read(): Passage[] | null {
    const session = this.agent.inspectFile(this.path);
    if (session === null) return null;
    const { agent, archive, checkpoint } = this;
    const read = readSessionText({ agent, session, head: HEAD, redactor: makeRedactor(), archive, checkpoint });
    this.wentOn = read.stays.bytes > 0;
    this.archive = Buffer.concat(joinArchive(archive, read));
    this.checkpoint = read.checkpoint;
    return this.archive.length === 0 ? [] : (unpackParts(this.archive)?.passages ?? null);
  }
}

const ROLLOUT = `.codex/sessions/2026/01/31/rollout-2026-01-31T12-00-00-${codex.THREAD}.jsonl`;
const STORIES: { name: string; agent: Agent; place: string; story: string }[] = [
  {
    name: 'Claude Code',
    agent: claudeCodeAgent,
    place: `.claude/projects/-app/${claudeCode.SESSION_ID}.jsonl`,
    story: claudeCode.makeStory().text,
  },
  { name: 'Codex', agent: codexAgent, place: ROLLOUT, story: toJsonLines(codex.legacyStory()) },
  {
    name: 'Qwen Code',
    agent: qwenAgent,
    place: '.qwen/projects/-app/chats/s.jsonl',
    story: qwen.makeStory().text,
  },
];

describe('the searchable text of a session', () => {
  it.each(STORIES)('of $name has what was said and done, with the line of each passage', ({ agent, place, story }) => {
    const path = writeText(join(makeFolder(), place), story);
    const passages = new Reader(agent, path).read() ?? [];
    const texts = passages.map(({ text }) => text).join('\n');
    expect(texts).toContain('Make the upload retry when the server is busy');
    expect(texts).toContain('npm test');
    expect(texts).toContain('TypeError: retry is not a function');
    expect(new Set(passages.map(({ speaker }) => speaker))).toEqual(new Set(SPEAKERS));
    const bytes = readFileSync(path);
    const lines = bytes.toString('utf8').split('\n');
    for (const { line, offset } of passages) {
      const end = bytes.indexOf('\n', offset ?? 0);
      expect(bytes.subarray(offset ?? -1, end).toString('utf8')).toBe(lines[line - 1]);
    }
  });

  it('has a title without what only a later text shows to be a secret', () => {
    const value = `kqzvxw${randomInt(1e6, 1e7)}`;
    const transcript = new claudeCode.Transcript();
    transcript.human(`Log in with ${value}`);
    transcript.say(`I have set DB_PASSWORD='${value}'`);
    const path = writeText(join(makeFolder(), `.claude/projects/-app/${claudeCode.SESSION_ID}.jsonl`), transcript.text);
    const session = claudeCodeAgent.inspectFile(path);
    if (session === null) throw new Error('there is no session');
    const head = { ...HEAD, title: `Log in with ${value}` };
    const source = { agent: claudeCodeAgent, session, head, redactor: makeRedactor(), archive: null, checkpoint: null };
    const read = readSessionText(source);
    expect(read.head.title).toMatch(/^Log in with \[redacted:/);
    expect(JSON.stringify(unpackParts(Buffer.concat(read.parts)))).not.toContain(value);
    expect(read.parts.map((part) => gunzipSync(part).toString('utf8')).join('')).not.toContain(value);
  });

  it.each(STORIES)('of $name is the same however often it was read while growing', ({ agent, place, story }) => {
    const content = Buffer.from(story);
    const whole = new Reader(agent, writeText(join(makeFolder(), place), content)).read();
    const cuts = fc.array(fc.nat({ max: content.length }), { maxLength: 5 }).map((list) => list.sort((a, b) => a - b));
    fc.assert(
      fc.property(cuts, (places) => {
        const path = join(makeFolder(), place);
        const reader = new Reader(agent, path);
        for (const end of places) {
          writeText(path, content.subarray(0, end));
          reader.read();
        }
        writeText(path, content);
        expect(reader.read()).toEqual(whole);
      }),
      { numRuns: 12 },
    );
  });

  it('of a grown transcript equals one complete reading', () => {
    fc.assert(
      fc.property(anyTranscript(), fc.double({ min: 0, max: 1, noNaN: true }), (text, share) => {
        const place = `.claude/projects/-app/${claudeCode.SESSION_ID}.jsonl`;
        const content = Buffer.from(text);
        const whole = new Reader(claudeCodeAgent, writeText(join(makeFolder(), place), content)).read();
        const reader = new Reader(claudeCodeAgent, join(makeFolder(), place));
        writeText(reader.path, content.subarray(0, Math.floor(content.length * share)));
        reader.read();
        writeText(reader.path, content);
        expect(reader.read()).toEqual(whole);
      }),
      { numRuns: 25 },
    );
  });

  it('is read on when the transcript grew, and rebuilt when it was rewritten', () => {
    const t = claudeCode.makeStory();
    const path = writeText(join(makeFolder(), '.claude/projects/-app/a.jsonl'), t.text);
    const reader = new Reader(claudeCodeAgent, path);
    reader.read();
    t.say('One more thing: the grapefruit is ripe.');
    writeText(path, t.text);
    expect(reader.read()?.at(-1)?.text).toContain('grapefruit');
    expect(reader.wentOn).toBe(true);
    writeText(path, t.text.replaceAll('grapefruit', 'pineapples'));
    expect(reader.read()?.at(-1)?.text).toContain('pineapples');
  });

  it('has no secret in it, nor has its saved state', () => {
    const canaries = writeSecrets(150, 21).filter(({ text }) => !text.includes('\0'));
    const t = new claudeCode.Transcript();
    for (const [index, { text }] of canaries.entries()) {
      if (index % 3 === 0) t.human(text);
      else if (index % 3 === 1) t.say(text);
      else {
        t.call(`toolu_${index}`, 'Bash', { command: text });
        t.result(`toolu_${index}`, `output:\n${text}`);
      }
    }
    const path = writeText(join(makeFolder(), '.claude/projects/-app/a.jsonl'), t.text);
    const reader = new Reader(claudeCodeAgent, path);
    const texts = (reader.read() ?? []).map(({ text }) => text).join('\n');
    const checkpoint = Buffer.from(reader.checkpoint ?? []).toString('latin1');
    expect(texts).toContain('[redacted:');
    const leaked = canaries.filter(({ secret }) =>
      secret
        .split('\n')
        .filter((line) => !line.startsWith('-----') && line.length >= 8)
        .map((line) => line.slice(Math.floor(line.length / 4), Math.ceil(line.length * 0.9)))
        .some((trace) => texts.includes(trace) || checkpoint.includes(trace)),
    );
    expect(leaked).toEqual([]);
  });

  it('has no value that was recognised as a secret only later', () => {
    const value = ['q7Xw', '92kd', 'LmP4', 'zz81'].join('');
    const t = new claudeCode.Transcript();
    t.say(`the header was ${value}, I think`);
    t.say('x '.repeat(300_000));
    t.human(`export DATABASE_PASSWORD=${value}`);
    const path = writeText(join(makeFolder(), '.claude/projects/-app/a.jsonl'), t.text);
    const reader = new Reader(claudeCodeAgent, path);
    expect(JSON.stringify(reader.read())).not.toContain(value);
    expect(reader.checkpoint).toBeNull();
  });
});

function makeEvent(event: Record<string, unknown>): Event {
  return { at: null, ref: { line: 1, id: null }, ...event } as unknown as Event;
}

describe('passages of a session', () => {
  const make = (...events: Event[]): string[] => {
    const maker = new PassageMaker();
    return events.flatMap((event) => maker.make(event).map(({ text }) => text));
  };

  it('leave out our own briefs', () => {
    const brief = '# Handover 20260131-120000-abcd\n\n> do not repeat me';
    const call = (tool: string, command: string): Event =>
      makeEvent({
        type: 'call',
        call: command,
        tool,
        action: { kind: 'command', command, background: false },
      });
    const result = (id: string, output: string): Event =>
      makeEvent({ type: 'result', call: id, ok: true, exit: 0, output });
    expect(make(makeEvent({ type: 'injected', text: brief }))).toEqual([]);
    expect(make(result('x', brief))).toEqual([]);
    expect(make(call('Bash', 'handover search retry'), result('handover search retry', 'old words'))).toEqual([
      'handover search retry',
    ]);
    expect(
      make(
        makeEvent({
          type: 'call',
          call: 'm',
          tool: 'mcp__agent-handover__search',
          action: { kind: 'other', texts: ['retry'] },
        }),
        result('m', 'old words'),
      ),
    ).toEqual(['mcp__agent-handover__search retry']);
    expect(make(call('Bash', 'npm test'), result('npm test', 'new words'))).toEqual(['npm test', 'new words']);
  });

  it('have the names and the content of files that were read, without the numbers of lines', () => {
    const read = makeEvent({
      type: 'call',
      call: 'r',
      tool: 'Read',
      action: { kind: 'read', path: 'src/a.ts' },
    });
    const result = makeEvent({
      type: 'result',
      call: 'r',
      ok: true,
      exit: null,
      output: '     1→const a = 1\n    12→const b = 2',
    });
    expect(make(read, result)).toEqual(['src/a.ts', 'const a = 1\nconst b = 2']);
  });

  it('are pieces of bounded length that together have the whole text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), fc.integer({ min: 4, max: 60 }), (text, most) => {
        const pieces = splitText(text, most);
        expect(pieces.every((piece) => piece.length <= most && piece.isWellFormed())).toBe(true);
        expect(pieces.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
      }),
    );
  });

  it('have no control characters', () => {
    expect(make(makeEvent({ type: 'reply', text: '\u001b[31mred\u001b[0m \u202eevil' }))).toEqual(['red evil']);
  });
});

describe('an archive of session text', () => {
  const passages = fc.array(
    fc.record({
      line: fc.nat(),
      offset: fc.option(fc.nat()),
      at: fc.option(fc.nat()),
      speaker: fc.constantFrom(...SPEAKERS),
      text: fc.string({ unit: 'grapheme' }),
    }),
  );

  it('returns what was packed, part by part, with the last header', () => {
    fc.assert(
      fc.property(passages, passages, (first, second) => {
        const head = { ...HEAD, title: 'later' };
        const packed = Buffer.concat([packPart(HEAD, first), packPart(head, second)]);
        expect(unpackParts(packed)).toEqual({ head, passages: [...first, ...second] });
      }),
      { numRuns: 40 },
    );
  });

  it('that is damaged is reported, and never throws', () => {
    const packed = packPart(HEAD, [{ line: 1, offset: 0, at: 0, speaker: 'human', text: 'hello there' }]);
    fc.assert(
      fc.property(fc.nat({ max: packed.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const bytes = Buffer.from(packed);
        bytes[at] = (bytes[at] ?? 0) ^ flip;
        const text = unpackParts(bytes);
        if (text !== null) expect(text.passages[0]?.text).toBe('hello there');
      }),
    );
    for (let end = 0; end < packed.length; end++) expect(unpackParts(packed.subarray(0, end))).toBeNull();
  });
});
