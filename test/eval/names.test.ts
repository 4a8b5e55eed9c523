import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findStems } from '../../eval/names/commands.ts';
import { findEntities } from '../../eval/names/entities.ts';
import { isNamedIn, KnownText } from '../../eval/names/known-text.ts';
import { baseName, findPaths } from '../../eval/names/paths.ts';
import { findContentWords, findRuns } from '../../eval/names/words.ts';

describe('files found by the evaluation', () => {
  it.each([
    ['see src/upload.ts.', ['src/upload.ts']],
    ['`./lib/a-b.test.tsx`', ['./lib/a-b.test.tsx']],
    ['/home/ann/a.py:12 and ~/b.go', ['/home/ann/a.py', '~/b.go']],
    ['app/[slug]/page.tsx', ['app/[slug]/page.tsx']],
    ['größe/maß.rs', ['größe/maß.rs']],
    ['https://example.org/a.html', []],
    ['foo.unknown, a.tsx/b, v1.2', []],
  ])('of %j are %j', (text, paths) => {
    expect([...findPaths(text)]).toEqual(paths);
  });

  it('are identified by their file name', () => {
    expect(['a/b.ts', 'b.ts', 'a/b/', '/'].map(baseName)).toEqual(['b.ts', 'b.ts', 'b', '']);
  });
});

describe('entities found by the evaluation', () => {
  it('are distinguished by kind', () => {
    const found = findEntities(
      'In src/upload.ts `npm run build -- x` gave TypeError and ENOENT, exit code 3, TS2305; see #12, ENT-7, v1.2.3 and ' +
        'https://example.org/x. It calls retryLater, MAX_TRIES, snake_case, Codec.decode() and `Frame::parse`.',
    );
    expect({
      file: [...found.file],
      ident: [...found.ident],
      error: [...found.error],
      ref: [...found.ref],
      url: [...found.url],
      cmd: [...found.cmd],
      sym: [...found.sym],
    }).toEqual({
      file: ['upload.ts'],
      ident: ['TypeError', 'retryLater', 'MAX_TRIES', 'snake_case', 'decode'],
      error: ['TypeError', 'ENOENT', 'exit code 3', 'TS2305'],
      ref: ['#12', 'ENT-7', 'v1.2.3'],
      url: ['https://example.org/x'],
      cmd: ['npm run'],
      sym: ['Frame::parse'],
    });
  });

  it('do not count the stem of a file, short names or common words', () => {
    const found = findEntities('fileStore.ts has fileStore and aB, `true`, `x.y`');
    expect([[...found.ident], [...found.sym]]).toEqual([[], []]);
  });

  it('may have letters of any script', () => {
    expect([...findEntities('éfooBar ENOENTé fooBar').ident]).toEqual(['fooBar']);
    expect([...findEntities('éfooBar ENOENTé').error]).toEqual([]);
  });

  it('are substrings of the text, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        const { file, ident, error, ref, url, sym } = findEntities(text);
        for (const name of [...file, ...ident, ...error, ...ref, ...url, ...sym]) expect(text).toContain(name);
      }),
    );
  });

  it('are found again between any other words', () => {
    const name = fc.stringMatching(/^[a-z]{2,8}[A-Z][a-z]{3,8}$/);
    const word = fc.stringMatching(/^[a-z]{1,6}$/);
    fc.assert(
      fc.property(fc.array(word), name, fc.array(word), (before, name, after) => {
        expect(findEntities([...before, name, ...after].join(' ')).ident).toEqual(new Set([name]));
      }),
    );
  });
});

describe('commands found by the evaluation', () => {
  it.each([
    ['npm test', ['npm test']],
    ['cd src && CI=1 sudo npm run build | tail -5; ls', ['npm run']],
    ['timeout 60 npx vitest run a.ts', ['vitest run']],
    ['./gradlew :app:test', ['gradlew']],
    ['git status && git commit -m "fix; rm -rf x && docker run y"', ['git commit']],
    ["python3 - <<'EOF'\nimport os; os.run()\nEOF\nmake check", ['python3', 'make check']],
    ['cat a | grep b', []],
    ['"quoted program" x', []],
    ['', []],
  ])('of %j are %j', (command, stems) => {
    expect([...findStems(command)]).toEqual(stems);
  });

  it('are never taken from within quotes', () => {
    const quoted = fc.stringMatching(/^[a-z ;&|]{0,40}$/);
    fc.assert(
      fc.property(quoted, (text) => {
        expect([...findStems(`cargo build '${text}' "${text}"`)]).toEqual(['cargo build']);
      }),
    );
  });
});

describe('a name in full', () => {
  it('is not a part of another one', () => {
    expect(isNamedIn('run', 'runner rerun')).toBe(false);
    expect(isNamedIn('run', 'runner rerun run')).toBe(true);
    expect(isNamedIn('run', 'runé')).toBe(false);
    expect(isNamedIn('run', '𝒜run')).toBe(false);
    expect(isNamedIn('run', '🎉run')).toBe(true);
    expect(isNamedIn('#12', 'see#12, #123')).toBe(true);
    expect(isNamedIn('', 'anything')).toBe(false);
  });

  it('is known exactly if the text names it', () => {
    const piece = fc.constantFrom('run', 'ner', 'a.ts', '.', ' ', '-', '_', '#1', 'é', '𝒜', '🎉', '\n', '()');
    const text = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, fc.array(piece, { minLength: 1, maxLength: 3 }), (text, pieces) => {
        const name = pieces.join('');
        const known = new KnownText(text);
        expect(known.names(name)).toBe(isNamedIn(name, text));
      }),
    );
  });
});

describe('words found by the evaluation', () => {
  it('leave out stop words', () => {
    expect([...findContentWords("The user's Upload is to_be re-tried, 3x by us")]).toEqual([
      "user's",
      'upload',
      'to_be',
      're-tried',
    ]);
  });

  it('form overlapping runs, or one short run', () => {
    expect(findRuns('One two, THREE four', 3)).toEqual(['one two three', 'two three four']);
    expect(findRuns('One two', 3)).toEqual(['one two']);
    expect(findRuns('', 3)).toEqual(['']);
  });
});
