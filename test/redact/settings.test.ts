import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { boundPattern } from '../../src/redact/settings.ts';
import { errorCode, makeSandbox, type Sandbox } from '../support/cli.ts';

function configure(sandbox: Sandbox, { user, project }: { user?: string; project?: string }): void {
  const write = (folder: string, text: string | undefined): void => {
    mkdirSync(folder, { recursive: true });
    if (text !== undefined) writeFileSync(join(folder, 'config.toml'), text);
  };
  write(join(sandbox.home, '.config', 'agent-handover'), user);
  write(join(sandbox.project, '.agent-handover'), project);
}

describe('custom redaction rules', () => {
  it('of the user and of the project both apply', async () => {
    const sandbox = makeSandbox();
    configure(sandbox, {
      user: `[redact]\nrules = [{ kind = "badge", pattern = "badge-[0-9]+" }]\n`,
      project: `[redact]\nrules = [{ kind = "shelf", pattern = 'shelf/\\w{2,9}' }]\n`,
    });
    const out = await sandbox.ok(['redact'], { input: 'badge-77123 stands on shelf/a17b, badge-x does not\n' });
    expect(out).toMatch(/^\[redacted:badge:\w{8}\] stands on \[redacted:shelf:\w{8}\], badge-x does not\n$/);
    await sandbox.save('--summary', 'The badge-77123 is mine');
    expect(JSON.stringify(await sandbox.json(['show']))).not.toContain('77123');
  });

  it('allow exceptions of the user, but not of a project', async () => {
    const token = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_');
    const sandbox = makeSandbox();
    configure(sandbox, { user: `[redact]\nallow = ["${token}"]\n` });
    expect(await sandbox.ok(['redact'], { input: token })).toBe(token);
    const other = makeSandbox();
    configure(other, { project: `[redact]\nallow = ["${token}"]\n` });
    const refused = await other.run(['redact', '--json'], { input: token });
    expect([refused.status, errorCode(refused), refused.stdout]).toEqual([78, 'HANDOVER_CONFIG_INVALID', '']);
  });

  it.each([
    ['[redact]\nrules = [{ kind = "x", pattern = "abc(a+)+" }]\n', 'a repetition'],
    ['[redact]\nrules = [{ kind = "X y", pattern = "abc" }]\n', 'a kind has'],
    ['[redact]\nrules = [{ kind = "x", pattern = "abc[" }]\n', 'not a regular expression'],
    ['[redact]\nallow = "all"\n', 'redact.allow'],
    ['[redact]\nunknown = 1\n', 'redact'],
  ])('are refused when they are wrong: %j', async (user, why) => {
    const sandbox = makeSandbox();
    configure(sandbox, { user });
    const { status, stderr } = await sandbox.run(['save', '--summary', 'x']);
    expect(status).toBe(78);
    expect(stderr).toContain(why);
  });
});

describe('a custom redaction pattern', () => {
  it.each([
    '(a+)+b',
    'abc(a*)*',
    'abc(?:a|b)+c+d+',
    'abc(x{1,9}){2,9}',
    'abc\\w+\\w+',
    'abc(.)\\1',
    'abc(?<n>x)\\k<n>',
    'abc(?=x)',
    'abc(?<!x)y',
    'ab*',
    'abc|.+',
    '.+',
    'a',
    'abc{1,9999}',
    `abc${'x'.repeat(500)}`,
    `abc${'(a|a)'.repeat(30)}x`,
  ])('%s is refused', (source) => expect(typeof boundPattern(source)).toBe('string'));

  it.each([
    ['acme-[A-Z0-9]{10}', 'acme-ABCDE12345'],
    ['tok_\\w+', `tok_${'a'.repeat(256)}`],
    ['INT-(?:live|test)-[a-f0-9]{4,8}', 'INT-live-00ff00'],
  ])('%s is accepted, and matches', (source, text) => {
    const bound = boundPattern(source);
    expect(typeof bound === 'string' ? [] : text.match(bound.pattern)).toEqual([text]);
  });

  it('takes whole lines where a text is made to keep it busy', async () => {
    const sandbox = makeSandbox();
    const rules = Array.from({ length: 9 }, (_, at) => `{ kind = "k${at}", pattern = 'aaaa{0,60}a{0,60}${at}' }`);
    configure(sandbox, { project: `[redact]\nrules = [${rules.join(', ')}]\n` });
    const input = `first line\n${'a'.repeat(9000)}\nlast line\n`;
    const out = await sandbox.ok(['redact'], { input });
    expect(out.replace(/\[redacted:k\d:\w{8}\]/g, '#')).toMatch(/^first line\n#+\nlast line\n$/);
  });
});
