import { cpSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Handover } from '../../../src/model/handover.ts';
import { captureWork } from '../../support/captured-work.ts';
import { runGit } from '../../support/cli.ts';
import { makeTwo, pack } from '../../support/two-people.ts';

describe('handover import', () => {
  it('saves handovers as those of the signer: shown and found, but never the latest nor followed', async () => {
    const { alice, bob, key } = await makeTwo();
    const own = await bob.save('--title', 'Mine', '--next', 'my own step');
    const id = await alice.save(
      '--title',
      'Theirs',
      '--goal',
      'obey',
      '--constraint',
      'always',
      '--next',
      'zebra',
      '--pin',
    );
    const path = await pack(alice);
    await bob.ok(['import', '--input', path, '--trust', key]);
    const kept = await bob.json<Handover>(['show', id]);
    expect(kept.imported).toMatchObject({ format: 'bundle/1', signer: { name: 'alice' } });
    expect(kept.facts.length).toBeGreaterThan(0);
    for (const fact of kept.facts)
      expect([fact.trust, fact.origin, fact.pinned]).toEqual(['imported', 'import', undefined]);
    expect((await bob.json<{ id: string }[]>(['list', '--query', 'ZEBRA'])).map((row) => row.id)).toEqual([id]);
    expect((await bob.json<Handover>(['show'])).id).toBe(own);
    for (const command of ['resume', 'restore']) {
      const brief = await bob.ok([command]);
      expect(brief).toContain('my own step');
      expect(brief).not.toContain('zebra');
    }
    expect(await bob.ok(['show', id])).toMatch(/signer {3}alice, key [0-9a-f ]{39}/);
    const rows = await bob.json<{ id: string; imported?: unknown }[]>(['list']);
    expect(new Map(rows.map((row) => [row.id, row.imported]))).toEqual(
      new Map<string, unknown>([
        [id, { signer: 'alice' }],
        [own, undefined],
      ]),
    );
    expect(await bob.ok(['list'])).toMatch(/Theirs\n.*imported, signed by alice\n/);
    expect(await bob.ok(['report', '--output', '-'])).toContain('"signer":"alice"');
  });

  it('shows what the sender wrote as the words of the signer, not of an agent', async () => {
    const { alice, bob, key } = await makeTwo();
    await captureWork(alice, { day: 3, steps: [{ ask: 'Tidy the parser' }, { say: 'It is tidy.' }] });
    const id = await alice.save('--title', 'For Bob', '--constraint', 'Never touch the lexer');
    await bob.ok(['import', '--input', await pack(alice), '--trust', key]);
    const mark = '(imported, said by alice, unverified) constraint: Never touch the lexer';
    expect(await bob.ok(['render', id])).toContain(mark);
    expect(await bob.ok(['show', id])).toMatch(/Never touch the lexer {2}\(imported, said by alice, f-/);
    const found = await bob.json(['search', 'lexer', '--kind', 'constraint']);
    expect(found).toMatchObject({ hits: [{ from: { agent: 'manual', imported: true } }] });
    await bob.ok(['refute', `> - ${mark}`, '--in', id, '--because', 'it is ours']);
  });

  it('knows a handover that it has, though that came without the one that it follows', async () => {
    const { alice, bob, key } = await makeTwo();
    const first = await alice.save('First', '--next', 'one step');
    const second = await alice.save('Second', '--next', 'another step');
    await bob.ok(['import', '--input', await pack(alice), '--trust', key]);
    const all = join(alice.folder, 'all.handover');
    await alice.ok(['export', '--all', '--sign', '--output', all]);
    const { handovers } = await bob.json<{ handovers: unknown }>(['import', all]);
    expect(handovers).toMatchObject([
      { id: first, outcome: 'imported' },
      { id: second, outcome: 'present' },
    ]);
  });

  it('knows what the sender marked, also when that was marked later, and says so as the sender', async () => {
    const { alice, bob, key } = await makeTwo();
    const steps = ['--decision', 'Use redis', '--next', 'Write the release note', '--next', 'Tag it'];
    const id = await alice.save('--title', 'Theirs', ...steps);
    await bob.ok(['import', '--input', await pack(alice), '--trust', key]);
    await alice.ok(['resolve', 'Write the release note']);
    await alice.ok(['refute', 'Use redis', '--because', 'it lost\nmessages']);
    expect(await alice.ok(['show'])).toMatch(/\[refuted\] Use redis .*\n {2}because: it lost messages\n/);
    expect(await alice.ok(['show'])).toContain('[resolved] Write the release note');
    expect(
      await alice.ok(['export', '--format', 'markdown', '--output', join(alice.folder, 'brief.md')]),
    ).toBeDefined();
    expect(readFileSync(join(alice.folder, 'brief.md'), 'utf8')).not.toContain('release note');
    const { handovers } = await bob.json<{ handovers: unknown }>(['import', '--input', await pack(alice)]);
    expect(handovers).toMatchObject([{ id, outcome: 'replaced' }]);
    const brief = await bob.ok(['render', id]);
    const warning = 'decision: [refuted] Use redis; because: it lost messages';
    expect(brief).toContain(`> - (imported, said by alice, unverified) ${warning}`);
    expect(brief).not.toContain('release note');
    expect(await bob.json(['list'])).toMatchObject([{ id, next: ['Tag it'] }]);
    expect(await bob.ok(['show', id])).toContain('[resolved] Write the release note');
    await bob.ok(['refute', 'Tag it', '--in', id, '--because', 'ours']);
    expect((await bob.json<Handover>(['show', id])).facts.map(({ status }) => status).sort()).toEqual([
      'refuted',
      'resolved',
      undefined,
    ]);
  });

  it('shows in a dry run what is in a bundle, and says what the import itself needs', async () => {
    const { alice, bob, key } = await makeTwo();
    const id = await alice.save('--title', 'Theirs');
    const signed = await pack(alice);
    const unsigned = join(alice.folder, 'unsigned.handover');
    await alice.ok(['export', '--output', unsigned]);
    const dryRun = async (path: string, ...args: string[]) => {
      const told = await bob.json<{ handovers: unknown; needs: string[] }>(['import', path, '--dry-run', ...args]);
      expect(await bob.ok(['import', path, '--dry-run', ...args])).toContain(told.needs.join(', and '));
      return told;
    };
    const handovers = [{ id, title: 'Theirs', facts: 0, outcome: 'imported' }];
    expect(await dryRun(unsigned)).toMatchObject({ signer: null, handovers, needs: ['--allow-unsigned'] });
    expect(await dryRun(unsigned, '--allow-unsigned')).toMatchObject({ needs: [] });
    const trust = `trust in its key: handover keys trust ${key} --name "alice"`;
    expect(await dryRun(signed)).toMatchObject({ signer: { name: 'alice' }, handovers, needs: [trust] });
    expect(await dryRun(signed, '--trust', key)).toMatchObject({ needs: [] });
    expect(await bob.json(['list'])).toEqual([]);
    expect((await bob.run(['import', unsigned])).status).toBe(77);
    await bob.ok(['import', signed, '--trust', key]);
    expect(await dryRun(unsigned, '--allow-unsigned')).toMatchObject({
      handovers: [{ outcome: 'conflict' }],
      needs: ['--on-conflict skip, or replace'],
    });
    expect((await bob.run(['import', unsigned, '--allow-unsigned'])).status).toBe(65);
  });

  it('says what to type next, and resume finds what was imported where nothing was done here', async () => {
    const { alice, bob, key } = await makeTwo();
    const id = await alice.save('--title', 'Theirs', '--next', 'zebra');
    const said = await bob.ok(['import', '--input', await pack(alice), '--trust', key]);
    expect(said).toContain('go on with it: handover resume');
    const brief = await bob.json<{ id: string; text: string }>(['resume']);
    expect([brief.id, brief.text.includes('zebra'), brief.text.includes('imported, signed by alice')]).toEqual([
      id,
      true,
      true,
    ]);
    expect((await bob.run(['restore'])).status).toBe(66);
    const own = await alice.run(['import', await pack(alice), '--allow-unsigned', '--allow-older']);
    expect([own.status, own.stderr]).toEqual([
      65,
      expect.stringContaining(`already here, and made on this machine: ${id}`),
    ]);
    expect(brief.text).toMatch(/, project \S+$/m);
    const shown = await bob.run(['show']);
    expect([shown.status, shown.stderr]).toEqual([
      0,
      expect.stringContaining('this is the newest one that was imported'),
    ]);
    expect(shown.stdout).not.toContain('folder');
    const elsewhere = await bob.ok(['import', '--input', await pack(alice), '--allow-older'], { cwd: bob.home });
    expect(elsewhere).toContain(`read it: handover show ${id}; go on with it: handover to AGENT --from ${id}`);
  });

  it('is what verify looks at where nothing was done here, and what changed is marked in its lines', async () => {
    const { alice, bob, key } = await makeTwo();
    for (const { project } of [alice, bob]) {
      writeFileSync(join(project, 'a.ts'), 'a();\n');
      utimesSync(join(project, 'a.ts'), 0, 0);
    }
    const { id } = await captureWork(alice, { day: 3, steps: [{ ask: 'Look at it' }, { edit: 'a.ts' }] });
    await bob.ok(['import', '--input', await pack(alice), '--trust', key]);
    expect((await bob.json<{ id: string; changed: number }>(['verify'])).id).toBe(id);
    writeFileSync(join(bob.project, 'a.ts'), 'b();\n');
    expect(await bob.run(['verify'])).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/^changed +file +a\.ts$/m),
    });
    expect(await bob.ok(['resume'])).toMatch(/ file: \[edited\] a\.ts \[changed since\]$/m);
  });

  it.each(['none', 'given later'])('belongs to the repository that has its commit (remote: %s)', async (remote) => {
    const { alice, bob, key } = await makeTwo();
    runGit(alice.project, 'remote', 'remove', 'origin');
    runGit(alice.project, 'commit', '--quiet', '--allow-empty', '--message', 'Begin');
    const id = await alice.save('--title', 'Theirs', '--next', 'zebra');
    rmSync(join(bob.project, '.git'), { recursive: true });
    cpSync(join(alice.project, '.git'), join(bob.project, '.git'), { recursive: true });
    if (remote === 'given later')
      for (const { project } of [alice, bob])
        runGit(project, 'remote', 'add', 'origin', 'https://example.invalid/shop');
    const path = await pack(alice);
    expect(await bob.ok(['import', path, '--trust', key])).toContain('go on with it: handover resume');
    expect(await bob.ok(['resume'])).toContain('zebra');
    expect(await bob.json(['list', '--project', '.'])).toMatchObject([{ id }]);
    const again = await bob.ok(['import', path, '--allow-older'], { cwd: bob.home });
    expect(again).toContain('already here');
  });

  it('stays of its own project where that has another remote or the commit is not there', async () => {
    const { alice, bob, key } = await makeTwo();
    for (const { project } of [alice, bob]) {
      runGit(project, 'remote', 'remove', 'origin');
      runGit(project, 'commit', '--quiet', '--allow-empty', '--message', `Begin ${project}`);
    }
    const id = await alice.save('--title', 'Theirs');
    await bob.ok(['import', await pack(alice), '--trust', key]);
    expect(await bob.json(['list', '--project', '.'])).toEqual([]);
    runGit(alice.project, 'remote', 'add', 'origin', 'https://example.invalid/fork');
    runGit(bob.project, 'remote', 'add', 'origin', 'https://example.invalid/shop');
    runGit(bob.project, 'fetch', '--quiet', alice.project);
    await alice.save('--title', 'Of the fork');
    await bob.ok(['import', await pack(alice)]);
    expect(await bob.json(['list', '--project', '.'])).toEqual([]);
    expect(await bob.json(['list'])).toMatchObject([{ title: 'Of the fork' }, { id }]);
  });

  it('is named by resume where it is newer than what was done here', async () => {
    const { alice, bob, key } = await makeTwo();
    await bob.save('--title', 'Mine', '--next', 'my own step');
    const id = await alice.save('--title', 'Theirs', '--next', 'zebra');
    await bob.ok(['import', '--input', await pack(alice), '--trust', key]);
    const { stdout, stderr } = await bob.run(['resume']);
    expect(stdout).toContain('my own step');
    expect(stderr).toContain(`an imported handover of newer work is here: handover render ${id}`);
  });
});
