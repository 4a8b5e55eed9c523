import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { diffHandovers } from '../../../src/handover/diff.ts';
import { linkHandover } from '../../../src/handover/link.ts';
import { sealHandover } from '../../../src/handover/seal.ts';
import type { Fact } from '../../../src/model/fact.ts';
import type { Handover, UnstampedDraft } from '../../../src/model/handover.ts';
import { describePlace } from '../../../src/platform/project.ts';
import { saveHandover } from '../../../src/store/handovers.ts';
import { openStore, pathOfHandover } from '../../../src/store/store.ts';
import { errorCode, makeSandbox, runGit } from '../../support/cli.ts';
import { DECLARED, HUMAN, makeDraft, makeFact, OBSERVED, sealDraft } from '../../support/facts.ts';

const sandbox = makeSandbox();
const task = (status: string): Fact => makeFact('task', 'Test the retry', { ...OBSERVED, status });
const check = (status: string): Fact =>
  makeFact('check', 'npm test', { ...OBSERVED, status, detail: { stem: 'npm test' } });
const RULE = makeFact('constraint', 'Never retry on 404', HUMAN);
const GOAL = makeFact('goal', 'Continue', { ...HUMAN, detail: { role: 'current' } });
const NEWER = makeFact('goal', 'Write it down', { ...HUMAN, detail: { role: 'current' } });

/** Saves a handover of the sandbox's project as `capture` would. */
function keep(draft: UnstampedDraft, previous: Handover | null = null): Handover {
  const { project, workspace } = describePlace('.', sandbox.machine);
  const placed = { ...draft, project, workspace };
  const linked = linkHandover(placed, previous === null ? null : { previous, byHand: null });
  return saveHandover(openStore(sandbox.machine), (stamp) => sealHandover({ ...linked, ...stamp })).handover;
}

let first: Handover;
let second: Handover;
let elsewhere: string;

beforeAll(async () => {
  runGit(sandbox.project, 'init', '--quiet');
  runGit(sandbox.project, 'commit', '--quiet', '--allow-empty', '--message', 'one');
  writeFileSync(join(sandbox.project, 'old.ts'), 'x');
  first = keep(makeDraft([GOAL, RULE, task('pending'), check('failed'), makeFact('note', 'In passing')]));
  runGit(sandbox.project, 'add', '.');
  runGit(sandbox.project, 'commit', '--quiet', '--message', 'two');
  runGit(sandbox.project, 'checkout', '--quiet', '-b', 'retry');
  writeFileSync(join(sandbox.project, 'new.ts'), 'x');
  const { session } = makeDraft([]);
  second = keep(makeDraft([NEWER, task('completed'), check('ok')], { session: { ...session, id: 's-2' } }), first);
  const other = join(sandbox.folder, 'other');
  mkdirSync(other);
  elsewhere = await sandbox.save('--title', 'Elsewhere', '--project', other);
});

describe('handover diff', () => {
  it('shows the outcome of every fact, the commits, and the changed files', async () => {
    const [before, after] = [first, second].map(({ workspace }) => workspace.git?.head);
    const text = await sandbox.ok(['diff', first.id, second.id]);
    expect(text).toBe(
      [
        `first    ${first.id}  ${first.created_at}  The work`,
        `second   ${second.id}  ${second.created_at}  The work`,
        'relation the second follows the first',
        'project  project',
        'branch   main -> retry',
        `head     ${before} -> ${after}`,
        'facts    1 new, 1 carried, 1 changed, 1 resolved, 1 superseded, 1 dropped',
        '',
        'new',
        `+ goal       Write it down  (${NEWER.id})`,
        '',
        'changed',
        `~ check      [failed -> ok] npm test  (${check('ok').id})`,
        '',
        'resolved',
        `- task       [pending] Test the retry  (completed, ${task('').id})`,
        '',
        'superseded',
        `- goal       Continue  (a newer request, ${GOAL.id})`,
        '             -> Write it down',
        '',
        'dropped',
        `- note       In passing  (of an earlier session, ${makeFact('note', 'In passing').id})`,
        '',
        'changed files (git)',
        '+ new.ts',
        '- old.ts',
        '',
      ].join('\n'),
    );
    expect(await sandbox.ok(['diff', first.id, second.id, '--all'])).toContain(
      `\ncarried\n  constraint Never retry on 404  (${RULE.id})\n`,
    );
  });

  it('prints the same as JSON', async () => {
    const json = await sandbox.json(['diff', first.id, second.id]);
    const outline = ({ id, kind, status = null, text }: { status?: string | null } & Omit<Fact, 'status'>) => ({
      id,
      kind,
      status,
      text,
    });
    expect(json).toEqual({
      first: expect.objectContaining({ id: first.id, title: 'The work' }),
      second: expect.objectContaining({ id: second.id }),
      relation: 'follows',
      new: [outline(NEWER)],
      carried: 1,
      changed: [{ before: outline(check('failed')), after: outline(check('ok')) }],
      resolved: [{ ...outline(task('pending')), reason: 'completed' }],
      superseded: [{ ...outline(GOAL), reason: 'a newer request', by: outline(NEWER) }],
      dropped: [{ ...outline(makeFact('note', 'In passing')), reason: 'of an earlier session' }],
      git: {
        branch: { before: 'main', after: 'retry' },
        head: { before: first.workspace.git?.head, after: second.workspace.git?.head },
        files: { added: ['new.ts'], gone: ['old.ts'] },
      },
    });
    expect(Object.keys(json)).toEqual([
      ...['first', 'second', 'relation', 'new', 'carried', 'changed', 'resolved', 'superseded', 'dropped', 'git'],
    ]);
    const all = await sandbox.json<{ carried_facts: unknown[] }>(['diff', first.id, second.id, '--all']);
    expect(all.carried_facts).toEqual([outline(RULE)]);
  });

  it('compares one alone with its previous, and none with the newest of the project', async () => {
    const expected = await sandbox.ok(['diff', first.id, second.id]);
    expect(await sandbox.ok(['diff', second.id])).toBe(expected);
    expect(await sandbox.ok(['diff'])).toBe(expected);
  });

  it('compares the newest with the one before it, also when it follows none', async () => {
    const own = makeSandbox();
    const one = await own.save('--title', 'One thing');
    const two = await own.save('--title', 'Another thing');
    const { first: from, second: to } = await own.json<{ first: { id: string }; second: { id: string } }>(['diff']);
    expect([from.id, to.id]).toEqual([one, two]);
    expect((await own.run(['diff', one])).status).toBe(66);
  });

  it('finds nothing between a handover and itself', async () => {
    const text = await sandbox.ok(['diff', first.id, first.id]);
    expect(text).toContain('\nrelation the same handover\n');
    expect(text).toMatch(/\nfacts {4}0 new, 5 carried, 0 changed, 0 resolved, 0 superseded, 0 dropped\n$/);
  });

  it('compares backwards in time without inventing outcomes', async () => {
    const { relation, dropped, resolved } = await sandbox.json<Record<string, unknown>>(['diff', second.id, first.id]);
    expect([relation, resolved]).toEqual(['earlier', []]);
    expect(dropped).toMatchObject([{ id: NEWER.id, reason: 'not known yet' }]);
  });

  it('takes a project whose remote was changed for one project', async () => {
    const own = makeSandbox();
    runGit(own.project, 'init', '--quiet');
    runGit(own.project, 'commit', '--quiet', '--allow-empty', '--message', 'one');
    await own.save('--title', 'Before');
    runGit(own.project, 'remote', 'add', 'origin', 'git@example.com:acme/shop.git');
    await own.save('--title', 'After');
    expect(await own.json(['diff'])).not.toMatchObject({ relation: 'another project' });
  });

  it('says that two handovers are of different projects', async () => {
    const { status, stdout, stderr } = await sandbox.run(['diff', first.id, elsewhere]);
    expect([status, stderr]).toEqual([0, 'note: these are from different projects: project and other\n']);
    expect(stdout).toContain('\nrelation different projects\n');
    const json = await sandbox.json(['diff', elsewhere, first.id]);
    expect(json).toMatchObject({ relation: 'another project', carried: 0 });
  });

  it('reports a missing or damaged handover', async () => {
    const cases: [string[], number, string][] = [
      [['20200101'], 66, 'HANDOVER_NOT_FOUND'],
      [[first.id, '20200101'], 66, 'HANDOVER_NOT_FOUND'],
      [[first.id], 66, 'HANDOVER_NOT_FOUND'],
      [[first.id, 'x y'], 66, 'HANDOVER_NOT_FOUND'],
      [[first.id, second.id, elsewhere], 64, 'HANDOVER_USAGE'],
    ];
    for (const [args, status, code] of cases) {
      const result = await sandbox.run(['diff', ...args, '--json']);
      expect([args, result.status, errorCode(result)]).toEqual([args, status, code]);
    }
    expect((await sandbox.run(['diff', first.id])).stderr).toBe(
      `error: ${first.id} has no predecessor\n  next: Name two: handover diff ID OTHER; list handovers: handover list\n`,
    );
    const broken = keep(makeDraft([GOAL]));
    writeFileSync(pathOfHandover(openStore(sandbox.machine), broken.id), '{}');
    const result = await sandbox.run(['diff', first.id, broken.id, '--json']);
    expect([result.status, errorCode(result)]).toEqual([65, 'HANDOVER_RECORD_DAMAGED']);
  });

  it('names the handover that was forgotten', async () => {
    const last = keep(makeDraft([NEWER]), second);
    await sandbox.ok(['forget', second.id]);
    const { status, stderr } = await sandbox.run(['diff', last.id]);
    expect(status).toBe(66);
    expect(stderr).toContain(`${second.id}, the predecessor of ${last.id}, was deleted`);
  });

  it('goes by when the work was done, not by when it was captured', async () => {
    const { session } = makeDraft([]);
    const workedOn = (last_at: string): string => {
      const draft = makeDraft([GOAL], { session: { ...session, id: last_at, last_at } });
      return keep(draft).id;
    };
    const [newer, older] = [workedOn('2026-01-31T10:00:00.000Z'), workedOn('2026-01-30T10:00:00.000Z')];
    const text = await sandbox.ok(['diff', older, newer]);
    expect(text).toMatch(/^first {4}\S+ {2}2026-01-30T10:00:00.000Z .*\nsecond {3}\S+ {2}2026-01-31T10:00:00.000Z /);
    expect(text).toContain('\nrelation the second is later\n');
  });

  it('counts what show counts', async () => {
    const state = makeFact('note', 'It was in the middle', { ...OBSERVED, detail: { role: 'state' } });
    const later = makeFact('note', 'It spoke last', { ...OBSERVED, detail: { role: 'state' } });
    const { session } = makeDraft([]);
    const before = keep(makeDraft([state, GOAL, RULE, check('failed')]));
    const after = keep(makeDraft([later, NEWER, check('ok')], { session: { ...session, id: 's-9' } }), before);
    const [, counts] = /facts +\d+ new, (.*)/.exec(await sandbox.ok(['diff', before.id, after.id])) ?? [];
    expect(await sandbox.ok(['show', after.id])).toContain(`follows  ${before.id}, of its facts ${counts}\n`);
  });
});

describe('handover diff without a recorded chain', () => {
  it('decides outcomes by the same rules', () => {
    const a = sealDraft(makeDraft([GOAL, RULE, task('pending'), makeFact('next', 'Go on', DECLARED)]));
    const b = sealDraft(makeDraft([NEWER, task('completed')]));
    const { relation, resolved, superseded, dropped } = diffHandovers(a, b);
    expect(relation).toBe('later');
    expect(resolved.map(({ reason }) => reason)).toEqual(['completed']);
    expect(superseded.map(({ by }) => by?.text)).toEqual(['Write it down']);
    expect(dropped.map(({ fact, reason }) => [fact.text, reason])).toEqual([
      ['Never retry on 404', 'not carried over'],
      ['Go on', 'not carried over'],
    ]);
  });
});
