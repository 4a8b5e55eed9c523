import { mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MemoryStore } from '../../src/memory/memory-store.ts';
import { countNotes, type Memory, readLatestNote, readState } from '../../src/memory/read-memory.ts';
import { addNote, replaceState } from '../../src/memory/write-memory.ts';
import { describeMachine } from '../../src/platform/machine.ts';
import { listNotesFiles } from '../../src/search/notes.ts';
import { makeTempFolder } from '../support/cli.ts';

const NOON = Date.UTC(2026, 10, 15, 12);

function makeMemory(): Memory {
  const folder = makeTempFolder();
  return {
    root: join(folder, 'memory'),
    machine: { ...describeMachine({ HOME: folder }, folder), clock: { now: () => NOON } },
  };
}

function read(memory: Memory, ...path: string[]): string {
  return readFileSync(join(memory.root, ...path), 'utf8');
}

describe('layer 1 of the memory', () => {
  it('keeps the path and the header line of the original', () => {
    const memory = makeMemory();
    const { path } = addNote(memory, 1, { text: 'did a thing', tag: 'codex' });
    expect(path).toBe(join(memory.root, 'layer1', '2026-11', 'codex-2026-11-15.md'));
    const [header, mark, ...text] = read(memory, 'layer1/2026-11/codex-2026-11-15.md').split('\n');
    expect(header).toBe('<!-- agent-handover | layer1 | 2026-11-15 -->');
    expect(mark).toMatch(/^<!-- agent-handover \| note \| 2026-11-15T12:00:00\.000Z \| n-[0-9a-z]{12} -->$/);
    expect(text).toEqual(['did a thing', '']);
  });

  it('AH-5: has both of two notes with the same tag and day, in layer 3 too', () => {
    const memory = makeMemory();
    for (const layer of [1, 3] as const) {
      for (const text of ['first', 'second', 'third']) addNote(memory, layer, { text, tag: 'x' });
    }
    const day = read(memory, 'layer1/2026-11/x-2026-11-15.md');
    const archive = read(memory, 'layer3/2026-11-x-archive.md');
    for (const content of [day, archive]) {
      expect(content).toMatch(/first\n\n<!--.*-->\nsecond\n\n<!--.*-->\nthird\n$/);
      expect(content.match(/^<!-- agent-handover \| layer/gm)).toHaveLength(1);
    }
    expect(countNotes(memory)).toBe(3);
  });

  it('appends to a file of the original or of a person, leaving its bytes unchanged', () => {
    const memory = makeMemory();
    const folder = join(memory.root, 'layer1', '2026-11');
    mkdirSync(folder, { recursive: true });
    const byHand = '---\ntitle: mine\n---\n<!-- agent-handover | layer1 | 2026-11-15 -->\nno line feed at the end';
    writeFileSync(join(folder, 'general-2026-11-15.md'), byHand);
    addNote(memory, 1, { text: 'more' });
    const content = read(memory, 'layer1/2026-11/general-2026-11-15.md');
    expect(content.startsWith(`${byHand}\n\n<!-- agent-handover | note |`)).toBe(true);
    expect(countNotes(memory, '2026-11')).toBe(2);
  });

  it('does not use the same name twice', () => {
    const memory = makeMemory();
    const note = { text: 'once', effect: 'run-1 note' };
    expect(addNote(memory, 1, note).isNew).toBe(true);
    expect(addNote(memory, 1, note).isNew).toBe(false);
    expect(countNotes(memory)).toBe(1);
  });

  it('AH-6: dates and tags cannot lead out of the memory, nor carry newlines, backslashes or colons', () => {
    const memory = makeMemory();
    const store = new MemoryStore(memory.root, memory.machine);
    const dates = ['../../x', '2026-11-15/../../..', '2026-02-30', '2026-1-5', '', '2026-11-15\n', '..-..-..'];
    const tags = ['..', '.hidden', 'a\nb', 'a\\b', 'a:b', 'a\0b', '', '-x', 'a'.repeat(101), '\u202ea', 'a\tb'];
    for (const date of dates) {
      expect(() => store.write(1, 'x', { date }), date).toThrow(/is not a date/);
      expect(() => store.write(3, 'x', { date, dryRun: true }), date).toThrow(/is not a date/);
    }
    for (const tag of tags) expect(() => store.write(1, 'x', { tag }), tag).toThrow(/is not a tag/);
    expect(() => store.write(4, 'x')).toThrow('invalid layer: 4');
    expect(readdirSync(memory.machine.cwd)).toEqual([]);
  });

  it('writes a slash and a space in a tag as the original did', () => {
    const memory = makeMemory();
    const store = new MemoryStore(memory.root, memory.machine);
    expect(store.write(1, 'x', { tag: 'my/long tag', dryRun: true })).toBe(
      join(memory.root, 'layer1', '2026-11', 'my-long_tag-2026-11-15.md'),
    );
  });

  it('refuses a link where a layer is to be', () => {
    const memory = makeMemory();
    const elsewhere = makeTempFolder();
    mkdirSync(memory.root);
    symlinkSync(elsewhere, join(memory.root, 'layer1'));
    expect(() => addNote(memory, 1, { text: 'x' })).toThrow(/is not a folder/);
    expect(readdirSync(elsewhere)).toEqual([]);
  });
});

describe('the latest note', () => {
  it('AH-14: is found by the date in the note, not by file times, and a tag is a whole tag', () => {
    const memory = makeMemory();
    addNote(memory, 1, { text: 'old', date: '2026-10-01', tag: 'ui' });
    const newest = addNote(memory, 1, { text: 'new', date: '2026-11-14', tag: 'ui-tests' });
    addNote(memory, 1, { text: 'older', date: '2026-09-30', tag: 'ui' });
    utimesSync(newest.path, 1, 1);
    expect(readLatestNote(memory, 1)).toMatchObject({ text: 'new', tag: 'ui-tests', date: '2026-11-14' });
    expect(readLatestNote(memory, 1, 'ui')).toMatchObject({ text: 'old' });
    expect(readLatestNote(memory, 1, 'tests')).toBeNull();
  });

  it('is the last of its day, of whatever tag', () => {
    const memory = makeMemory();
    addNote(memory, 1, { text: 'first', at: NOON - 3000, tag: 'b' });
    addNote(memory, 1, { text: 'third', at: NOON - 1000, tag: 'b' });
    addNote(memory, 1, { text: 'second', at: NOON - 2000, tag: 'a' });
    expect(readLatestNote(memory, 1)?.text).toBe('third');
    expect(new MemoryStore(memory.root, memory.machine).readLatest(1, 'a')).toBe('second');
  });

  it('is found at the end of a file that is long, and when it is long itself', () => {
    const memory = makeMemory();
    addNote(memory, 1, { text: 'x'.repeat(300_000) });
    addNote(memory, 1, { text: 'short' });
    expect(readLatestNote(memory, 1)?.text).toBe('short');
    addNote(memory, 1, { text: `begin ${'y'.repeat(300_000)}` });
    expect(readLatestNote(memory, 1)?.text.startsWith('begin yyy')).toBe(true);
  });
});

describe('layer 2 of the memory', () => {
  it('is replaced, and its history kept', () => {
    const memory = makeMemory();
    replaceState(memory, { text: 'one' });
    const second = replaceState(memory, { text: 'two', at: NOON + 1000 });
    replaceState(memory, { text: 'three', at: NOON + 2000 });
    expect(read(memory, 'layer2/current-state.md')).toMatch(
      /^<!-- agent-handover \| layer2 \| 2026-11-15 -->\n<!--.*-->\nthree\n$/,
    );
    expect(readState(memory)?.text).toBe('three');
    const past = readdirSync(join(memory.root, 'layer2', 'history')).sort();
    expect(past.map((name) => read(memory, 'layer2/history', name).split('\n')[2])).toEqual(['one', 'two']);
    expect(readFileSync(second.past ?? '', 'utf8')).toContain('one');
  });

  it('is not reverted by a repeated step whose text was replaced since', () => {
    const memory = makeMemory();
    const ofRun = { text: 'of the run', at: NOON, effect: 'run-1 current_state' };
    replaceState(memory, ofRun);
    replaceState(memory, { text: 'later', at: NOON });
    replaceState(memory, { text: 'latest', at: NOON + 1000 });
    expect(replaceState(memory, ofRun).isNew).toBe(false);
    expect(readState(memory)?.text).toBe('latest');
    expect(replaceState(memory, { ...ofRun, effect: 'run-2 current_state' }).isNew).toBe(true);
  });

  it('keeps manual edits in its history, byte for byte, and carries front matter over', () => {
    const memory = makeMemory();
    replaceState(memory, { text: 'ours' });
    const byHand = Buffer.from('\ufeff---\r\nkind: mine\r\n---\r\nmy own words, \xff not UTF-8', 'latin1');
    writeFileSync(join(memory.root, 'layer2', 'current-state.md'), byHand);
    const { past } = replaceState(memory, { text: 'ours again' });
    expect(readFileSync(past ?? '')).toEqual(byHand);
    writeFileSync(join(memory.root, 'layer2', 'current-state.md'), '---\nkind: mine\n---\nwords\n');
    replaceState(memory, { text: 'third' });
    expect(read(memory, 'layer2/current-state.md').startsWith('---\nkind: mine\n---\n<!-- agent-')).toBe(true);
    expect(readState(memory)?.text).toBe('third');
  });

  it('is unchanged when nothing is new, or when a step is repeated', () => {
    const memory = makeMemory();
    replaceState(memory, { text: 'same' });
    expect(replaceState(memory, { text: 'same' })).toMatchObject({ isNew: false, past: null });
    replaceState(memory, { text: 'of the run', effect: 'run-1 state' });
    const path = join(memory.root, 'layer2', 'current-state.md');
    writeFileSync(path, read(memory, 'layer2/current-state.md').replace('of the run', 'edited since'));
    expect(replaceState(memory, { text: 'of the run', effect: 'run-1 state' }).isNew).toBe(false);
    expect(readState(memory)?.text).toBe('edited since');
  });
});

describe('a memory with a link in its place or inside', () => {
  const elsewhere = makeMemory();
  addNote(elsewhere, 1, { text: 'a private note' });
  addNote(elsewhere, 3, { text: 'a private archive' });
  replaceState(elsewhere, { text: 'a private state' });

  it.each(['', 'layer1', 'layer1/2026-11', 'layer2', 'layer3'])(
    'is neither read nor written through it: "%s"',
    (part) => {
      const memory = makeMemory();
      const project = dirname(memory.root);
      mkdirSync(dirname(join(memory.root, part)), { recursive: true });
      symlinkSync(join(elsewhere.root, part), join(memory.root, part));
      const shown = [readState(memory), readLatestNote(memory, 1), readLatestNote(memory, 3), countNotes(memory)];
      expect(shown).toEqual([null, null, null, 0]);
      expect(listNotesFiles({ folder: project, memoryDir: memory.root }, memory.machine)).toEqual([]);
      const before = readdirSync(elsewhere.root, { recursive: true });
      const write = { '': 1, layer2: 2, layer3: 3 }[part] ?? 1;
      expect(() =>
        write === 2
          ? replaceState(memory, { text: 'x' })
          : addNote(memory, write === 3 ? 3 : 1, { text: 'x', tag: 'new' }),
      ).toThrow(/is not a folder/);
      expect(readdirSync(elsewhere.root, { recursive: true })).toEqual(before);
    },
  );

  it('is used where the user names the link', () => {
    const link = join(makeTempFolder(), 'mine');
    symlinkSync(elsewhere.root, link);
    expect(new MemoryStore(link, elsewhere.machine).readLatest(2)).toBe('a private state');
  });
});
