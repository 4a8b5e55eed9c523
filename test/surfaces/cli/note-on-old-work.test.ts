import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { captureWork } from '../../support/captured-work.ts';
import { makeSandbox, runGit } from '../../support/cli.ts';

const sandbox = makeSandbox();
const WORKED = '2026-02-03T09:00:00.000Z';
let note = '';
/** The day of the note, which its id begins with. */
let today = '';

beforeAll(async () => {
  runGit(sandbox.project, 'init', '--quiet');
  writeFileSync(join(sandbox.project, 'upload.ts'), 'export {};');
  const steps = [{ ask: 'Make the upload retry' }, { edit: 'upload.ts' }, { say: 'The upload retries now.' }];
  await captureWork(sandbox, { day: 3, steps });
  note = await sandbox.save('The upload.ts waits for a review', '--next', 'Ask for the review');
  today = note.replace(/^(\d{4})(\d\d)(\d\d).*/, '$1-$2-$3');
});

type Timeline = { days: { date: string; sessions: Record<string, unknown>[] }[] };

describe('a note that is saved on work of days ago', () => {
  it('is an entry of now by a person in the timeline, and the work stays where it was', async () => {
    const { days } = await sandbox.json<Timeline>(['timeline']);
    expect(days.map(({ date, sessions }) => [date, sessions])).toMatchObject([
      [today, [{ agent: 'manual', session: null, handover: note, goal: 'The upload.ts waits for a review' }]],
      ['2026-02-03', [{ agent: 'claude-code', at: WORKED, goal: 'Make the upload retry', files_changed: 1 }]],
    ]);
    expect(await sandbox.ok(['timeline'])).toContain(`saved by hand, ${note}`);
    const since = await sandbox.json<Timeline>(['timeline', '--since', '1d']);
    expect(since.days.map(({ date }) => date)).toEqual([today]);
  });

  it('is told apart from the work by why, search and files', async () => {
    const { sessions } = await sandbox.json<{ sessions: Record<string, unknown>[] }>(['why', 'upload.ts']);
    expect(sessions).toMatchObject([
      { agent: 'manual', handover: note, reasons: [{ text: 'The upload.ts waits for a review' }] },
      { agent: 'claude-code', at: WORKED, touched: [{ path: 'upload.ts', change: 'edited' }] },
    ]);
    for (const env of [{}, { HANDOVER_SQLITE: 'none' }]) {
      const find = async (...args: string[]) =>
        (
          await sandbox.json<{ hits: { kind?: string; trust?: string; from: Record<string, unknown> }[] }>(
            ['search', ...args],
            { env },
          )
        ).hits;
      const hits = await find('upload', '--kind', 'file,note');
      expect(hits.find(({ kind }) => kind === 'file')?.from).toMatchObject({ agent: 'claude-code', at: WORKED });
      const saved = hits.find(({ trust }) => trust === 'declared')?.from;
      expect([saved?.agent, String(saved?.at).slice(0, 10)]).toEqual(['manual', today]);
      expect((await find('upload', '--since', '1d')).map(({ kind }) => kind)).not.toContain('file');
      expect(await sandbox.json(['files'], { env })).toMatchObject([
        { path: 'upload.ts', last_at: WORKED, sessions: 1 },
      ]);
      expect(await sandbox.json(['files', '--since', '1d'], { env })).toEqual([]);
    }
  });

  it('has its own time in the brief, beside that of the work', async () => {
    const { text } = await sandbox.json<{ text: string }>(['resume']);
    expect(text).toContain(`from claude-code, last worked on ${WORKED}, note saved by hand ${today}`);
    expect(text).toMatch(/^> last worked on \d+d ago; a note was saved by hand just now/m);
    expect(text).toContain('> Next, stated by hand: Ask for the review');
  });

  it('is listed as saved by hand, with the age of the work', async () => {
    const [first = '', second = '', third = ''] = (await sandbox.ok(['list'])).split('\n');
    expect(first).toBe(`${note}  manual        The upload.ts waits for a review`);
    expect(second).toMatch(/^ {2}project, just now, saved by hand on the work of claude-code, \d+d ago$/);
    expect(third).toBe('  next: Ask for the review');
    expect(await sandbox.ok([])).toMatch(/last +just now, saved by hand on the work of claude-code, \d+d ago:/);
    expect(await sandbox.ok([])).toMatch(/next +Ask for the review/);
  });
});

describe('a next step that is resolved', () => {
  it('is in no list any more, until it is stated again', async () => {
    const own = makeSandbox();
    await captureWork(own, { day: 3, steps: [{ ask: 'Make the upload retry' }, { say: 'It retries.' }] });
    await own.save('--next', 'Write the tests', '--next', 'Ask for a review');
    const listNext = async (): Promise<unknown> => (await own.json<{ next: string[] }[]>(['list']))[0]?.next;
    await own.ok(['resolve', 'Write the tests']);
    expect(await listNext()).toEqual(['Ask for a review']);
    expect(await own.ok(['list'])).not.toContain('Write the tests |');
    expect(await own.ok([])).toMatch(/^ {2}next {5}Ask for a review\n {2}type/m);
    await own.save('--next', 'Write the tests');
    expect(await listNext()).toEqual(['Write the tests', 'Ask for a review']);
    expect((await own.json<{ text: string }>(['resume'])).text).toContain('> Next, stated by hand: Write the tests');
  });

  it('stays a note of a person on another machine, and the work there has its own title', async () => {
    const bundle = join(sandbox.folder, 'note.zip');
    await sandbox.ok(['export', '--output', bundle]);
    const other = makeSandbox();
    runGit(other.project, 'init', '--quiet');
    await other.ok(['import', bundle, '--allow-unsigned']);
    const { days } = await other.json<Timeline>(['timeline', '--all']);
    expect(days.flatMap(({ sessions }) => sessions)).toMatchObject([
      { agent: 'manual', title: 'The upload.ts waits for a review' },
      { agent: 'claude-code', title: 'Make the upload retry' },
    ]);
    expect(await other.ok(['search', 'review'])).not.toContain('imported, imported');
  });
});
