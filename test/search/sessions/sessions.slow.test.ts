import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SearchHit } from '../../../src/search/query.ts';
import { Transcript } from '../../fixtures/agents/claude-code.ts';
import { writeSecrets } from '../../fixtures/secrets/write-secrets.ts';
import { makeSandbox, type Sandbox } from '../../support/cli.ts';
import { writeText } from '../../support/transcripts.ts';

interface Answer {
  hits: SearchHit[];
  as_typed: boolean;
  instead?: { typed: string; found: string[] }[];
  sessions: { by: string; behind: number; unread: number };
}

const idOf = (number: number): string => `5b0c7f0e-4b5e-4f0a-9d57-${String(number).padStart(12, '0')}`;

function tell(sandbox: Sandbox, number: number, ...said: string[]): { path: string; t: Transcript } {
  const t = new Transcript({ sessionId: idOf(number), cwd: sandbox.project });
  for (const [index, text] of said.entries()) index % 2 === 0 ? t.human(text) : t.say(text);
  const path = writeText(join(sandbox.home, '.claude/projects/-app', `${idOf(number)}.jsonl`), t.text);
  return { path, t };
}

async function find(sandbox: Sandbox, words: string, env: Record<string, string> = {}): Promise<Answer> {
  return await sandbox.json<Answer>(['search', '--sessions', ...words.split(' ')], { env });
}

/** How many lines match, shown or not. */
const countLines = ({ hits }: Answer): number => hits.reduce((sum, { more = 0 }) => sum + 1 + more, 0);

const idsOf = ({ hits }: Answer): string[] => hits.map(({ id }) => id);

describe('search --sessions', () => {
  it('finds what was said, with speaker, time, place and how to open it', async () => {
    const sandbox = makeSandbox();
    const { path } = tell(sandbox, 1, 'Peel the grapefruit', 'It fails: cannot peel, zest() is missing', 'Try again');
    tell(sandbox, 2, 'Something about databases', 'The index is rebuilt');
    const { hits } = await find(sandbox, 'zest missing');
    expect(hits[0]).toMatchObject({
      what: 'session',
      id: idOf(1),
      text: 'It fails: cannot peel, zest() is missing',
      from: { agent: 'claude-code', speaker: 'agent', line: 2, project: { name: 'project' } },
      open: `handover sessions ${idOf(1)} --line 2`,
    });
    const offset = hits[0]?.from.offset ?? -1;
    expect(readFileSync(path).subarray(offset).toString('utf8')).toMatch(/^\{"parentUuid".*zest/);
    const [, , ...command] = ['', '', ...(hits[0]?.open.split(' ').slice(1) ?? [])];
    const shown = await sandbox.ok(command);
    expect(shown).toContain('Peel the grapefruit');
    expect(shown).toContain('cannot peel, zest() is missing');
  });

  it('finds words with typos, parts of names and exact phrases, as with facts', async () => {
    const sandbox = makeSandbox();
    tell(
      sandbox,
      1,
      'Look at src/fruit/parse-citrus.ts',
      'TypeError: Cannot read properties of undefined (reading "peel")',
    );
    tell(sandbox, 2, 'Look at the other thing', 'Nothing here');
    expect(idsOf(await find(sandbox, 'TypeEror properties'))[0]).toBe(idOf(1));
    expect(idsOf(await find(sandbox, 'fruit/parse-citrus.ts'))[0]).toBe(idOf(1));
    expect(idsOf(await find(sandbox, 'undefined (reading "peel")'))[0]).toBe(idOf(1));
  });

  it('puts a session first that has the words in several lines, where no line has all of them', async () => {
    const sandbox = makeSandbox();
    tell(sandbox, 1, 'A loquat', 'On the terrace', 'A loquat again', 'The terrace in winter', 'Mulch for the loquat');
    tell(sandbox, 2, 'The loquat and its mulch', 'Something else', 'Done');
    tell(sandbox, 3, 'Nothing of all this', 'Right');
    const { hits } = await find(sandbox, 'loquat mulch terrace winter');
    expect(hits.map(({ id }) => id).slice(0, 2)).toEqual([idOf(1), idOf(2)]);
  });

  it('reads new parts of a growing session, and drops rewound ones', async () => {
    const sandbox = makeSandbox();
    const { path, t } = tell(sandbox, 1, 'First the apples', 'Apples are done');
    await find(sandbox, 'apples');
    t.human('Now the pomegranates');
    writeFileSync(path, t.text);
    expect((await find(sandbox, 'pomegranates')).hits[0]?.text).toBe('Now the pomegranates');
    expect(countLines(await find(sandbox, 'apples'))).toBe(2);
    tell(sandbox, 1, 'Only quinces', 'Quinces it is, all of them');
    expect((await find(sandbox, 'pomegranates')).hits).toEqual([]);
    expect(countLines(await find(sandbox, 'quinces'))).toBe(2);
    expect(readFileSync(join(sandbox.store, 'sessions.sqlite')).includes('pomegranates')).toBe(false);
  });

  it('keeps the text of deleted sessions, says so, and removes it with cleanup', async () => {
    const sandbox = makeSandbox();
    const { path } = tell(sandbox, 1, 'The persimmon story', 'Told');
    const old = new Date(Date.now() - 100 * 86_400_000);
    utimesSync(path, old, old);
    tell(sandbox, 2, 'A newer persimmon');
    await find(sandbox, 'persimmon');
    rmSync(path);
    const { hits } = await find(sandbox, 'persimmon story');
    expect(hits.find(({ id }) => id === idOf(1))?.from.gone).toBe(true);
    expect(hits.find(({ id }) => id === idOf(2))?.from.gone).toBeUndefined();
    expect(await sandbox.ok(['sessions', idOf(1)])).toMatch(/was deleted[\s\S]*The persimmon story/);
    expect(await sandbox.json(['cleanup', '--dry-run'])).toMatchObject({ removed_sessions: [idOf(1)] });
    expect(idsOf(await find(sandbox, 'persimmon'))).toContain(idOf(1));
    expect(await sandbox.json(['cleanup'])).toMatchObject({ removed_sessions: [idOf(1)] });
    expect(idsOf(await find(sandbox, 'persimmon'))).toEqual([idOf(2)]);
    expect((await sandbox.run(['sessions', idOf(1)])).status).toBe(66);
  });

  it('does not read a forgotten session again', async () => {
    const sandbox = makeSandbox();
    const { path, t } = tell(sandbox, 1, 'A private kumquat');
    await find(sandbox, 'kumquat');
    await sandbox.ok(['forget', '--session', idOf(1)]);
    t.say('The kumquat again');
    writeFileSync(path, t.text);
    expect((await find(sandbox, 'kumquat')).hits).toEqual([]);
    expect(readFileSync(join(sandbox.store, 'sessions.sqlite')).includes('kumquat')).toBe(false);
  });

  it('gives the same answers after the index was deleted, cut or damaged, also for deleted sessions', async () => {
    const sandbox = makeSandbox();
    const { path } = tell(sandbox, 1, 'The medlar question', 'The medlar answer');
    for (let number = 2; number < 12; number++)
      tell(sandbox, number, `Question ${number} of medlars`, `Answer ${number}`);
    const before = await find(sandbox, 'medlar');
    rmSync(path);
    const gone = await find(sandbox, 'medlar answer');
    const index = join(sandbox.store, 'sessions.sqlite');
    const whole = readFileSync(index);
    const damages = [
      () => rmSync(index),
      () => truncateSync(index, 5000),
      ...[0, 100, 5000, 20_000, 60_000].map((at) => () => {
        const bytes = Buffer.from(whole);
        bytes[at] = (bytes[at] ?? 0) ^ 0xff;
        writeFileSync(index, bytes);
      }),
    ];
    for (const damage of damages) {
      damage();
      expect(await find(sandbox, 'medlar answer')).toEqual(gone);
    }
    expect(before.hits.length).toBeGreaterThan(5);
  });

  it('reads a session again when its copy is damaged', async () => {
    const sandbox = makeSandbox();
    tell(sandbox, 1, 'A loganberry');
    const before = await find(sandbox, 'loganberry');
    const folder = join(sandbox.store, 'sessions');
    for (const name of readdirSync(folder)) writeFileSync(join(folder, name), 'damaged');
    expect((await find(sandbox, 'loganberry')).hits).toEqual(before.hits);
  });

  it('works without SQLite, and says what is limited', async () => {
    const sandbox = makeSandbox();
    tell(sandbox, 1, 'A cloudberry', 'Two cloudberries');
    const { hits, sessions } = await find(sandbox, 'cloudberry', { HANDOVER_SQLITE: 'none' });
    expect(sessions.by).toBe('scan');
    expect(hits).toMatchObject([{ text: 'A cloudberry', more: 1 }]);
    const { stderr } = await sandbox.run(['search', '--sessions', 'cloudberry'], {
      env: { HANDOVER_SQLITE: 'none' },
    });
    expect(stderr).toContain('only the newest 40 sessions');
  });

  it('answers several concurrent searches completely', async () => {
    const sandbox = makeSandbox();
    for (let number = 1; number < 20; number++) tell(sandbox, number, `Number ${number} of the boysenberries`, 'Yes');
    const answers = await Promise.all([1, 2, 3].map(() => find(sandbox, 'boysenberries')));
    for (const answer of answers) expect(answer.hits).toHaveLength(10);
  });

  it('filters by agent, project, time and file', async () => {
    const sandbox = makeSandbox();
    tell(sandbox, 1, 'The mulberry in src/mulberry.ts', 'Done with the mulberry');
    const narrowed = async (...flags: string[]): Promise<number> =>
      countLines(await sandbox.json<Answer>(['search', '--sessions', 'mulberry', ...flags]));
    expect(await narrowed('--agent', 'claude-code')).toBe(2);
    expect(await narrowed('--agent', 'codex')).toBe(0);
    expect(await narrowed('--project', sandbox.project)).toBe(2);
    expect(await narrowed('--project', sandbox.home)).toBe(0);
    expect(await narrowed('--file', 'mulberry.ts')).toBe(1);
    expect(await narrowed('--since', '2027-01-01')).toBe(0);
    expect(await narrowed('--since', '2026-01-01')).toBe(2);
  });

  it.each([{}, { HANDOVER_SQLITE: 'none' }])(
    'shows the best line of each session and how to see the others (%o)',
    async (env) => {
      const sandbox = makeSandbox();
      tell(sandbox, 1, 'The salal grows', 'Salal it is', 'A salal jam recipe', 'Nothing', 'Salal again');
      tell(sandbox, 2, 'One salal');
      const { hits } = await find(sandbox, 'salal jam recipe', env);
      expect(hits[0]).toMatchObject({ id: idOf(1), text: 'A salal jam recipe' });
      expect(idsOf({ ...(await find(sandbox, 'salal', env)) }).sort()).toEqual([idOf(1), idOf(2)]);
      const { stdout } = await sandbox.run(['search', '--sessions', 'salal'], { env });
      expect(stdout).toContain(`3 more lines of it match: handover search salal --sessions --session ${idOf(1)}\n`);
      expect(stdout).not.toContain(`--session ${idOf(2)}`);
      const all = await sandbox.json<Answer>(['search', 'salal', '--session', idOf(1).slice(0, 36)], { env });
      expect(all.hits.map(({ from }) => from.line).sort()).toEqual([1, 2, 3, 5]);
      expect((await sandbox.run(['search', 'salal', '--session', 'none-such'], { env })).status).toBe(66);
    },
  );

  it('shows sessions of a common word, however much of it the newest one has', async () => {
    const sandbox = makeSandbox();
    tell(sandbox, 1, ...Array.from({ length: 400 }, (_, at) => `Wineberry number ${at}`));
    for (let number = 2; number < 7; number++) tell(sandbox, number, `A wineberry in ${number}`);
    expect((await find(sandbox, 'wineberry')).hits).toHaveLength(6);
  });

  it.each([{}, { HANDOVER_SQLITE: 'none' }])(
    'finds swapped letters, also inside names, and says so (%o)',
    async (env) => {
      const sandbox = makeSandbox();
      tell(sandbox, 1, 'Use exponentialBackoffDelay here', 'Done');
      tell(sandbox, 2, 'The medlars are late', 'Yes');
      const inside = await find(sandbox, 'bakcoff', env);
      expect(inside.hits[0]?.id).toBe(idOf(1));
      expect(inside).toMatchObject({
        as_typed: false,
        instead: [{ typed: 'bakcoff', found: ['exponentialbackoffdelay'] }],
      });
      const { stderr } = await sandbox.run(['search', '--sessions', 'mdelars', 'late'], { env });
      expect(stderr).toContain('nothing matches as typed: shown is what has "medlars" for "mdelars"');
      expect(await find(sandbox, 'medlars late', env)).toMatchObject({ as_typed: true });
    },
  );

  it('repeats no word of a query that has a secret in it', async () => {
    const sandbox = makeSandbox();
    tell(sandbox, 1, 'The medlars are late');
    const secret = ['ghp', 'x9Kd82mQpL0vTz71RbNc45Wy63HsJf20AgUe'].join('_');
    const { stdout, stderr } = await sandbox.run(['search', '--sessions', 'medlras', secret, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ as_typed: false, hits: [{ id: idOf(1) }] });
    expect(`${stdout}${stderr}`).not.toContain(secret.slice(6, 20).toLowerCase());
  });

  it('puts what was typed before other forms of it, whatever is newer', async () => {
    const sandbox = makeSandbox();
    const first = tell(sandbox, 1, 'Look at lib/index-store.ts once more and then go on with everything else');
    utimesSync(first.path, new Date('2026-01-01'), new Date('2026-01-01'));
    for (let number = 2; number < 6; number++) tell(sandbox, number, 'Looks at stores: looking, stores');
    expect(idsOf(await find(sandbox, 'lib/index-store.ts'))[0]).toBe(idOf(1));
    expect(idsOf(await find(sandbox, 'store look'))[0]).toBe(idOf(1));
    const second = tell(sandbox, 6, `They were peeled ${'and washed and dried '.repeat(20)}`);
    utimesSync(second.path, new Date('2026-01-01'), new Date('2026-01-01'));
    for (let number = 7; number < 10; number++) tell(sandbox, number, 'Peeling: peeler, peel, peels');
    expect(idsOf(await find(sandbox, 'peeled'))[0]).toBe(idOf(6));
  });

  it('finds what a tool read, up to a bound, and without secrets', async () => {
    const sandbox = makeSandbox();
    const [canary] = writeSecrets(20, 77).filter(({ text }) => !text.includes('\n') && !text.includes('\0'));
    const { path, t } = tell(sandbox, 1, 'Read the file');
    t.call('toolu_1', 'Read', { file_path: '/x/orchard.conf' });
    const lines = ['first: sorbus', canary?.text ?? '', ...Array.from({ length: 900 }, (_, at) => `filler ${at}`)];
    t.result('toolu_1', [...lines, 'last: crataegus'].map((line, at) => `${at + 1}→${line}`).join('\n'));
    writeFileSync(path, t.text);
    for (const word of ['sorbus', 'crataegus'])
      expect((await find(sandbox, word)).hits).toMatchObject([{ id: idOf(1), from: { speaker: 'tool' } }]);
    const { passages } = await sandbox.json<{ passages: { text: string }[] }>(['sessions', idOf(1)]);
    const kept = passages.map(({ text }) => text).join('\n');
    expect(kept).toContain('first: sorbus\n');
    expect(kept).not.toContain('filler 450');
    const { secret = '' } = canary ?? {};
    expect(kept).not.toContain(secret.slice(Math.floor(secret.length / 4), Math.ceil(secret.length * 0.9)));
  });

  it('leaves no secret in the store or on the screen', async () => {
    const sandbox = makeSandbox();
    const canaries = writeSecrets(100, 31).filter(({ text }) => !text.includes('\0'));
    const { path } = tell(
      sandbox,
      1,
      'Here they come, blackthorn',
      ...canaries.map(({ text }) => `blackthorn\n${text}`),
    );
    const { stdout } = await sandbox.run(['search', '--sessions', 'blackthorn', '--limit', '100', '--json']);
    const { stdout: shown } = await sandbox.run(['sessions', idOf(1)]);
    appendFileSync(path, '\n');
    await find(sandbox, 'blackthorn');
    const kept = readdirSync(sandbox.store, { recursive: true, encoding: 'utf8' })
      .map((name) => join(sandbox.store, name))
      .filter((name) => statSync(name).isFile())
      .map((name) => readFileSync(name).toString('latin1'));
    const everything = [stdout, shown, ...kept].join('\n');
    const leaked = canaries.filter(({ secret }) =>
      secret
        .split('\n')
        .filter((line) => !line.startsWith('-----') && line.length >= 8)
        .some((line) => everything.includes(line.slice(Math.floor(line.length / 4), Math.ceil(line.length * 0.9)))),
    );
    expect(leaked).toEqual([]);
  });

  it('skips a session of a project with invalid redaction rules', async () => {
    const sandbox = makeSandbox();
    tell(sandbox, 1, 'A tayberry');
    writeText(join(sandbox.project, '.agent-handover/config.toml'), 'not toml at all [[[');
    const { sessions, hits } = await sandbox.json<Answer>(['search', '--sessions', 'tayberry'], {
      cwd: sandbox.home,
    });
    expect({ unread: sessions.unread, hits }).toEqual({ unread: 1, hits: [] });
    expect(existsSync(join(sandbox.store, 'sessions'))).toBe(false);
  });
});
