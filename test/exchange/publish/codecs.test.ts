import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findConflictCopies } from '../../../src/exchange/publish/folder-store.ts';
import { parsePushAnswers } from '../../../src/exchange/publish/git/remote.ts';
import { formatPublishState, parsePublishState } from '../../../src/exchange/publish/publish-state.ts';
import { parseCredentials } from '../../../src/exchange/publish/s3-store.ts';
import { parseSafeUrl } from '../../../src/platform/http.ts';

describe('sync records', () => {
  const arrivals = fc.array(fc.tuple(fc.string(), fc.string(), fc.string()), { maxLength: 20 });

  it('are read back as they were written, in one form', () => {
    fc.assert(
      fc.property(arrivals, fc.string(), (rows, destination) => {
        const map = new Map(rows.map(([path, sha256, version]) => [path, { sha256, version }]));
        const text = formatPublishState(destination, map);
        expect(parsePublishState(text, destination)).toEqual(map);
        expect(formatPublishState(destination, new Map([...map].reverse()))).toBe(text);
        expect(parsePublishState(text, `${destination}.`)).toBeNull();
      }),
    );
  });

  it('are not parsed from any other text', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => parsePublishState(text, 'x') === null));
  });
});

describe('credentials files', () => {
  const word = fc.stringMatching(/^[A-Za-z0-9/+]{1,40}$/);

  it('give the keys of one profile among others', () => {
    fc.assert(
      fc.property(word, word, fc.constantFrom('\n', '\r\n'), (id, secret, end) => {
        const lines = [
          '# keys',
          '[other]',
          'aws_access_key_id = no',
          '',
          '[ mine ]',
          `aws_access_key_id=${id}`,
          ` aws_secret_access_key = ${secret} `,
          '[last]',
          'aws_secret_access_key = no',
        ];
        const expected = { accessKeyId: id, secretAccessKey: secret };
        expect(parseCredentials(lines.join(end), 'mine')).toEqual(expected);
        expect(parseCredentials(lines.join(end), 'other')).toBeNull();
      }),
    );
  });

  it('never fail on a text', () => {
    fc.assert(fc.property(fc.string(), fc.string(), (text, profile) => void parseCredentials(text, profile)));
  });
});

describe('the output of git push', () => {
  it('is read line by line', () => {
    const text = 'To file:///x\n!\ta:refs/heads/b\t[rejected] (fetch first)\n=\ta:refs/heads/c\t[up to date]\nDone\n';
    expect(parsePushAnswers(text)).toEqual([
      { flag: '!', summary: '[rejected] (fetch first)' },
      { flag: '=', summary: '[up to date]' },
    ]);
  });

  it('never fails on a text', () => {
    fc.assert(fc.property(fc.string(), (text) => parsePushAnswers(text).every(({ flag }) => flag.length === 1)));
  });
});

describe('conflict copies', () => {
  it.each([
    'HANDOFF.sync-conflict-20261115-120000-ABCDEFG.md',
    "HANDOFF (Ada's conflicted copy 2026-11-15).md",
    'HANDOFF (conflicted copy 2026-11-15 120000).md',
    'HANDOFF (1).md',
    'HANDOFF 2.md',
  ])('are recognised by name: %s', (name) => {
    expect(findConflictCopies('memory/HANDOFF.md', ['HANDOFF.md', name, 'HANDOFFS.md', 'HANDOFF.txt'])).toEqual([
      `memory/${name}`,
    ]);
  });

  it('are never the file itself, nor another file', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{1,8}$/), fc.stringMatching(/^[a-z-]{0,8}$/), (stem, rest) => {
        expect(findConflictCopies(`${stem}.md`, [`${stem}.md`, `${stem}${rest}.md`, `${stem}.md${rest}`])).toEqual([]);
      }),
    );
  });
});

describe('an address safe for secrets', () => {
  it.each(['https://a.example', 'http://127.0.0.1:8080/x', 'http://localhost', 'http://[::1]:9/'])(
    'may be %s',
    (text) => {
      expect(parseSafeUrl(text)).not.toBeNull();
    },
  );

  it.each([
    'http://a.example',
    'http://127.0.0.1.a.example',
    'http://localhost.a.example',
    'https://user:word@a.example',
    'https://a.example/?key=1',
    'file:///etc/passwd',
    'ftp://127.0.0.1',
    '',
  ])('may not be %s', (text) => {
    expect(parseSafeUrl(text)).toBeNull();
  });
});
