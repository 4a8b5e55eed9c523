import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compactMemory } from '../../src/memory/compact.ts';
import { countNotes, type Memory } from '../../src/memory/read-memory.ts';
import { addNote } from '../../src/memory/write-memory.ts';
import { describeMachine } from '../../src/platform/machine.ts';
import { makeSandbox, makeTempFolder } from '../support/cli.ts';

const NOW = Date.UTC(2026, 10, 15, 12);

function makeMemory(): Memory {
  const folder = makeTempFolder();
  return {
    root: join(folder, 'memory'),
    machine: { ...describeMachine({ HOME: folder }, folder), clock: { now: () => NOW } },
  };
}

const FIRST = `Worked on the upload.

## Decisions
- Retry only on 502 and 503
- Keep the old endpoint

- Constraint: no new dependencies
- [ ] write the timeout test
- [ ] document the flag
`;
const SECOND = `Worked on the upload.

## Decisions
- Retry only on 502 and 503

- [x] write the timeout test

\`\`\`sh
npm test

npm run bench
\`\`\`
`;

function fill(memory: Memory): void {
  addNote(memory, 1, { text: FIRST, tag: 'api', at: Date.UTC(2026, 9, 3, 9) });
  addNote(memory, 1, { text: SECOND, tag: 'api', at: Date.UTC(2026, 9, 4, 9) });
  addNote(memory, 1, { text: 'Colours', tag: 'ui', at: Date.UTC(2026, 9, 4, 10) });
  addNote(memory, 1, { text: 'of this month', tag: 'api' });
}

function readArchive(memory: Memory, name: string): string {
  return readFileSync(join(memory.root, 'layer3', name), 'utf8');
}

describe('compacting the memory', () => {
  it('merges the notes of a month by tag, lasting content first, linked to its note', () => {
    const memory = makeMemory();
    fill(memory);
    const [api, ui] = compactMemory(memory);
    expect(api).toMatchObject({ month: '2026-10', tag: 'api', notes: 2, repeats: 2, unreadable: [] });
    expect(ui).toMatchObject({ month: '2026-10', tag: 'ui', notes: 1, repeats: 0 });
    const archive = readArchive(memory, '2026-10-api-archive.md');
    expect(archive.split('\n')[0]).toBe('<!-- agent-handover | layer3 | 2026-11-15 -->');
    const link = String.raw` \(\[2026-10-03\]\(#(a-[0-9a-z]+)\)\)`;
    for (const [heading, item] of [
      ['Decisions', '- Retry only on 502 and 503'],
      ['Constraints', '- Constraint: no new dependencies'],
      ['Open work', String.raw`- \[ \] document the flag`],
    ]) {
      const [, anchor] = new RegExp(`## ${heading}\n\n${item}${link}`).exec(archive) ?? [];
      expect(archive, heading).toContain(`### 2026-10-03T09:00:00.000Z <a id="${anchor}"></a>`);
    }
    expect(archive).not.toMatch(/\[ \] write the timeout test \(/);
    expect(archive).toContain('- [ ] write the timeout test\n');
    expect(archive).toContain('```sh\nnpm test\n\nnpm run bench\n```');
    expect(archive.match(/^Worked on the upload\.$/gm)).toHaveLength(1);
  });

  it('removes archived notes, and leaves the current month', () => {
    const memory = makeMemory();
    fill(memory);
    compactMemory(memory);
    expect(readdirSync(join(memory.root, 'layer1'))).toEqual(['2026-11']);
    expect(countNotes(memory)).toBe(1);
    expect(() => compactMemory(memory, { month: '2026-11' })).toThrow('2026-11 is not over yet');
  });

  it('creates no folder when there is nothing to merge', () => {
    const memory = makeMemory();
    expect(compactMemory(memory)).toEqual([]);
    expect(compactMemory(memory, { month: '2020-01' })).toEqual([]);
    expect(existsSync(memory.root)).toBe(false);
  });

  it('writes nothing in a dry run, and reports the same', () => {
    const memory = makeMemory();
    fill(memory);
    const planned = compactMemory(memory, { dryRun: true });
    expect(existsSync(join(memory.root, 'layer3'))).toBe(false);
    expect(countNotes(memory)).toBe(4);
    expect(compactMemory(memory)).toEqual(planned);
  });

  it('continues after an interruption between archiving and removing, without duplicates', () => {
    const memory = makeMemory();
    fill(memory);
    const day = join(memory.root, 'layer1', '2026-10', 'api-2026-10-03.md');
    const note = readFileSync(day);
    compactMemory(memory);
    const archive = readArchive(memory, '2026-10-api-archive.md');
    mkdirSync(dirname(day), { recursive: true });
    writeFileSync(day, note);
    expect(compactMemory(memory)).toMatchObject([{ tag: 'api', notes: 0, removed: [day] }]);
    expect(existsSync(dirname(day))).toBe(false);
    expect(readArchive(memory, '2026-10-api-archive.md')).toBe(archive);
  });

  it('adds late notes to a manually edited archive, and keeps every byte of it', () => {
    const memory = makeMemory();
    fill(memory);
    compactMemory(memory);
    const path = join(memory.root, 'layer3', '2026-10-api-archive.md');
    const edited = readArchive(memory, '2026-10-api-archive.md').replace('Worked on', 'I worked hard on');
    writeFileSync(path, edited);
    addNote(memory, 1, { text: 'Late\n\n- Keep the old endpoint', tag: 'api', date: '2026-10-31' });
    expect(compactMemory(memory)).toMatchObject([{ notes: 1, repeats: 1 }]);
    const after = readArchive(memory, '2026-10-api-archive.md');
    expect(after.startsWith(edited)).toBe(true);
    expect(after.slice(edited.length)).toContain('Late');
  });

  it('shows the archives that are written, in the words that are in them', async () => {
    const sandbox = makeSandbox();
    const folder = join(sandbox.project, 'memory', 'layer1', '2020-10');
    mkdirSync(folder, { recursive: true });
    const garbled = join(folder, 'a-2020-10-02.md');
    writeFileSync(garbled, Buffer.from([0xff, 0xfe, 0x41]));
    const { stdout, stderr } = await sandbox.run(['compact']);
    expect([stdout, existsSync(join(sandbox.project, 'memory', 'layer3'))]).toEqual(['nothing to merge\n', false]);
    expect(stderr).toContain(`${garbled} is not text and is left as it is`);
    writeFileSync(join(folder, 'b-2020-10-02.md'), 'words\n\nwords\n');
    const archive = join(sandbox.project, 'memory', 'layer3', '2020-10-b-archive.md');
    expect(await sandbox.ok(['compact'])).toBe(`2020-10 b  1 note, 1 repeat left out  ${archive}\n`);
    expect(readFileSync(archive, 'utf8')).toContain('1 note, 1 repeat left out.');
  });

  it('keeps front matter, and leaves files that are no text or no notes where they are', () => {
    const memory = makeMemory();
    const folder = join(memory.root, 'layer1', '2026-10');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'a-2026-10-01.md'), '---\nmood: good\n---\nwords');
    writeFileSync(join(folder, 'a-2026-10-02.md'), Buffer.from([0xff, 0xfe, 0x41]));
    writeFileSync(join(folder, 'reading-list.txt'), 'mine');
    expect(compactMemory(memory)).toMatchObject([{ notes: 1, unreadable: [join(folder, 'a-2026-10-02.md')] }]);
    expect(readArchive(memory, '2026-10-a-archive.md')).toContain('```yaml\n---\nmood: good\n---\n```');
    expect(readdirSync(folder).sort()).toEqual(['a-2026-10-02.md', 'reading-list.txt']);
  });
});

describe('handover compact --memory', () => {
  it('follows a link that the user named', async () => {
    const sandbox = makeSandbox();
    const memory = { root: join(sandbox.folder, 'notes'), machine: sandbox.machine };
    addNote(memory, 1, { text: FIRST, tag: 'api', at: Date.UTC(2020, 9, 3, 9) });
    symlinkSync(memory.root, join(sandbox.project, 'link'));
    expect(await sandbox.ok(['compact', '--memory', 'link'])).toContain('1 note, 0 repeats left out');
    expect(readdirSync(join(memory.root, 'layer3'))).toHaveLength(1);
  });
});
