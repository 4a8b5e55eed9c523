import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  appendLineDurably,
  createFileDurably,
  isAbandonedTemp,
  makeTempPath,
  measureRegularFile,
  moveFileDurably,
  readFileTail,
  readRegularFile,
  removeFile,
  writeFileDurably,
} from '../../src/platform/durable-file.ts';
import { makeFolder } from '../support/temp-store.ts';

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

describe('writing a file durably', () => {
  it('replaces the content, with mode 0600, and leaves nothing else', () => {
    const folder = makeFolder();
    const path = join(folder, 'file');
    writeFileSync(path, 'old', { mode: 0o644 });
    writeFileDurably(path, 'new');
    expect(readFileSync(path, 'utf8')).toBe('new');
    expect(modeOf(path)).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['file']);
  });

  it('leaves nothing behind when the folder is missing, and changes nothing when the target is a folder', () => {
    const folder = makeFolder();
    expect(() => writeFileDurably(join(folder, 'none', 'file'), 'x')).toThrow(/ENOENT/);
    mkdirSync(join(folder, 'taken'));
    expect(() => writeFileDurably(join(folder, 'taken'), 'x')).toThrow();
    expect(readdirSync(folder)).toEqual(['taken']);
  });
});

describe('creating a file durably', () => {
  it('creates it once', () => {
    const folder = makeFolder();
    const path = join(folder, 'file');
    expect(createFileDurably(path, 'first')).toBe(true);
    expect(createFileDurably(path, 'second')).toBe(false);
    expect(readFileSync(path, 'utf8')).toBe('first');
    expect(readdirSync(folder)).toEqual(['file']);
    expect(modeOf(path)).toBe(0o600);
    expect(statSync(path).nlink).toBe(1);
  });

  it('does not follow a link in its place', () => {
    const folder = makeFolder();
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'file'));
    expect(createFileDurably(join(folder, 'file'), 'x')).toBe(false);
    expect(existsSync(join(folder, 'elsewhere'))).toBe(false);
  });
});

describe('appending a line', () => {
  it('adds whole lines, creating the file with mode 0600', () => {
    const path = join(makeFolder(), 'log');
    appendLineDurably(path, 'one');
    appendLineDurably(path, 'two');
    expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
    expect(modeOf(path)).toBe(0o600);
  });

  it('ends an incomplete line first, so that no line is lost', () => {
    const path = join(makeFolder(), 'log');
    writeFileSync(path, 'one\ntor');
    appendLineDurably(path, 'two');
    expect(readFileSync(path, 'utf8')).toBe('one\ntor\ntwo\n');
  });

  it('refuses a link', () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'outside'), '');
    symlinkSync(join(folder, 'outside'), join(folder, 'log'));
    expect(() => appendLineDurably(join(folder, 'log'), 'x')).toThrow(
      expect.objectContaining({ code: 'HANDOVER_PATH_UNSAFE' }),
    );
    expect(readFileSync(join(folder, 'outside'), 'utf8')).toBe('');
  });
});

describe('reading a regular file', () => {
  it('reads it whole, or its end', () => {
    const path = join(makeFolder(), 'file');
    writeFileSync(path, 'abcdef');
    expect(readRegularFile(path, 100).toString()).toBe('abcdef');
    expect(readFileTail(path, 2).toString()).toBe('ef');
    expect(readFileTail(path, 200).toString()).toBe('abcdef');
    expect(measureRegularFile(path)).toBe(6);
    expect(measureRegularFile(`${path}x`)).toBeNull();
  });

  it('refuses what is too large, a link, a folder, and a pipe without waiting for a writer', () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'file'), 'abcdef');
    symlinkSync(join(folder, 'file'), join(folder, 'link'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    expect(() => readRegularFile(join(folder, 'file'), 5)).toThrow(
      expect.objectContaining({ code: 'HANDOVER_TEXT_TOO_LARGE' }),
    );
    for (const name of ['link', 'pipe', '.']) {
      expect(() => readRegularFile(join(folder, name), 5)).toThrow(
        expect.objectContaining({ code: 'HANDOVER_PATH_UNSAFE' }),
      );
    }
    expect(() => measureRegularFile(join(folder, 'pipe'))).toThrow(
      expect.objectContaining({ code: 'HANDOVER_PATH_UNSAFE' }),
    );
  });
});

describe('moving and removing a file', () => {
  it('moves a file, and reports whether there was one to remove', () => {
    const folder = makeFolder();
    mkdirSync(join(folder, 'sub'));
    writeFileSync(join(folder, 'a'), 'x');
    moveFileDurably(join(folder, 'a'), join(folder, 'sub', 'b'));
    expect(readFileSync(join(folder, 'sub', 'b'), 'utf8')).toBe('x');
    expect(removeFile(join(folder, 'sub', 'b'))).toBe(true);
    expect(removeFile(join(folder, 'sub', 'b'))).toBe(false);
  });
});

describe('temp files', () => {
  it('are abandoned when their writer is dead, and only then', () => {
    const folder = makeFolder();
    const own = makeTempPath(join(folder, 'file'));
    writeFileSync(own, '');
    expect(isAbandonedTemp(own)).toBe(false);
    const dead = own.replace(/-(\d+)-(\d+)\./, '-$1-1.');
    linkSync(own, dead);
    expect(isAbandonedTemp(dead)).toBe(true);
  });

  it('of another machine are abandoned after an hour', () => {
    const foreign = makeTempPath(join(makeFolder(), 'file')).replace(/\.([0-9a-v]{8})-/, '.00000000-');
    writeFileSync(foreign, '');
    expect(isAbandonedTemp(foreign)).toBe(false);
    const past = Date.now() / 1000 - 2 * 60 * 60;
    utimesSync(foreign, past, past);
    expect(isAbandonedTemp(foreign)).toBe(true);
  });
});
