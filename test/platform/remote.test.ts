import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hideCredentials, normaliseRemote } from '../../src/platform/project.ts';

let root: string;

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'handover-remote-')));
});

afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

const SECRET = 'hunter2';

const label = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}[a-z0-9]$/);
const host = fc.tuple(label, label).map((labels) => labels.join('.'));
const segment = fc
  .stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,12}[A-Za-z0-9]$/)
  .filter((text) => !/\.git$/i.test(text));
const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/'));
const port = fc.oneof(
  fc.constant(''),
  fc.integer({ min: 1, max: 65_535 }).map((number) => `:${number}`),
);
const suffix = fc.constantFrom('', '.git', '/', '.git/', '//', '/.git');
/** Also characters that ought to be escaped in a URL. */
const password = fc.stringMatching(/^[a-z0-9:@?#%=&!~.]{0,8}$/).map((text) => `${SECRET}${text}`);
const user = fc.oneof(
  fc.constant(''),
  label.map((name) => `${name}@`),
  fc.tuple(label, password).map(([name, word]) => `${name}:${word}@`),
);
const casing = fc.func(fc.boolean());

describe('normaliseRemote', () => {
  it('gives host/owner/name for every way to write a remote, without any credential', () => {
    const url = fc.tuple(fc.constantFrom('https', 'http', 'ssh', 'git', 'git+ssh', 'HTTPS'), user, port);
    fc.assert(
      fc.property(host, path, url, suffix, casing, (name, place, [scheme, who, gate], end, upper) => {
        const shout = [...name].map((char, index) => (upper(index) ? char.toUpperCase() : char)).join('');
        const wanted = `${name}/${place}`;
        expect(normaliseRemote(`${scheme}://${who}${shout}${gate}/${place}${end}`, root)).toBe(wanted);
        expect(normaliseRemote(`git@${shout}:${place}${end}`, root)).toBe(wanted);
        expect(normaliseRemote(`${shout}:/${place}${end}`, root)).toBe(wanted);
        expect(normaliseRemote(` ssh://git@${shout}/${place}${end}\n`, root)).toBe(wanted);
      }),
      { numRuns: 500 },
    );
  });

  it('never throws, and never keeps the password of a URL', () => {
    const noise = fc.string({ unit: 'binary', maxLength: 40 });
    fc.assert(
      fc.property(
        noise,
        noise,
        fc.constantFrom('https://', 'ssh://', 'x::https://', 'file://', 'https:/', ''),
        (a, b, scheme) => {
          normaliseRemote(`${scheme}${a}`, root);
          const remote = normaliseRemote(`${scheme}user:${SECRET}@${b}`, root);
          expect(remote ?? '').not.toContain(SECRET);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['https://github.com/Owner/Name.git', 'github.com/Owner/Name'],
    ['ssh://git@ssh.github.com:443/owner/name.git', 'github.com/owner/name'],
    ['git@github.com:owner/name', 'github.com/owner/name'],
    ['https://ghp_token@github.com/owner/name', 'github.com/owner/name'],
    ['https://user:pa/ss@github.com/owner/name', 'github.com/owner/name'],
    ['https://github.com?token=abc', 'github.com'],
    ['https://github.com./owner/name#fragment', 'github.com/owner/name'],
    ['https://example.org/a%20b/c', 'example.org/a b/c'],
    ['https://example.org/%zz/c', 'example.org/%zz/c'],
    ['https://example.org/@scope/name', 'example.org/@scope/name'],
    ['git@example.org:@scope/name', 'example.org/@scope/name'],
    ['user:secret@example.org:owner/name', 'example.org/owner/name'],
    ['user:secret@example.org/owner/name', 'example.org/owner/name'],
    ['ssh://git@[2001:DB8::1]:22/owner/name.git', '[2001:db8::1]/owner/name'],
    ['git@[2001:db8::1]:owner/name.git', '[2001:db8::1]/owner/name'],
    ['[example.org:2222]:owner/name', 'example.org/owner/name'],
    ['https://example.org/a/./b/../name', 'example.org/a/name'],
    ['https://example.org/../../name', 'example.org/name'],
    ['https://exa\u202emple.org/na\u0007me', 'example.org/name'],
    ['gcrypt::git@example.org:owner/name', 'example.org/owner/name'],
    ['https://example.org', 'example.org'],
  ])('turns %j into %j', (url, wanted) => {
    expect(normaliseRemote(url, root)).toBe(wanted);
  });

  it.each([
    '',
    '  ',
    'ext::sh -c "x --token=abc"',
    'EXT::a:b',
    'helper::--token=abc:x',
    'https://',
    'https://@',
    ':',
    `https://example.org/${'a'.repeat(5000)}`,
  ])('finds no location in %j', (url) => {
    expect(normaliseRemote(url, root)).toBeNull();
  });

  it('turns a remote on this machine into its real path', () => {
    mkdirSync(join(root, 'origin with space.git'));
    mkdirSync(join(root, 'project'));
    symlinkSync('origin with space.git', join(root, 'link'));
    const real = join(root, 'origin with space.git');
    for (const url of [
      real,
      `${real}/`,
      `file://${real}`,
      `file://${root}/origin%20with%20space.git`,
      `file://user:${SECRET}@localhost${real}`,
      join(root, 'link'),
      '../origin with space.git',
      './../link',
    ]) {
      expect(normaliseRemote(url, join(root, 'project'))).toBe(real);
    }
    expect(normaliseRemote('../gone', join(root, 'project'))).toBe(join(root, 'gone'));
    expect(normaliseRemote('./odd:name', root)).toBe(join(root, 'odd:name'));
  });
});

describe('hideCredentials', () => {
  it.each([
    ['https://host.example/a/b.git', 'https://host.example/a/b.git'],
    [`https://ann:${SECRET}@host.example/a`, 'https://host.example/a'],
    [`https://ann:p@${SECRET}@host.example/a`, 'https://host.example/a'],
    [`https://ann:p/${SECRET}@host.example/a`, 'https://host.example/a'],
    [`git+ssh://ann:${SECRET}@host.example/a`, 'git+ssh://host.example/a'],
    ['https://host.example:8080/@scope/a', 'https://host.example:8080/@scope/a'],
    ['git@host.example:a/b', 'git@host.example:a/b'],
    ['/srv/git/a', '/srv/git/a'],
  ])('turns %s into %s', (url, shown) => {
    expect(hideCredentials(url)).toBe(shown);
  });
});
