import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readHandoffFooter } from '../../../src/memory/handoff-file.ts';
import { detectProjectTypes } from '../../../src/platform/project.ts';
import { makeSandbox, makeTempFolder, runGit } from '../../support/cli.ts';
import { listFiles } from '../../support/tree.ts';

const sandbox = makeSandbox();
const handoff = join(sandbox.project, 'HANDOFF.md');

beforeAll(() => {
  runGit(sandbox.project, 'init', '--quiet');
  writeFileSync(join(sandbox.project, 'package.json'), '{}');
  runGit(sandbox.project, 'add', '.');
  runGit(sandbox.project, 'commit', '--quiet', '--message=Start <!-- here');
});

describe('handover snapshot', () => {
  it('does not repeat a summary that equals the title', async () => {
    const other = makeSandbox();
    await other.save('--summary', 'Retries raised to 5');
    const text = await other.ok(['snapshot', '--stdout']);
    expect(text.split('Retries raised to 5')).toHaveLength(2);
  });

  it('AF-6: includes decisions and next steps, not only the state of git', async () => {
    const id = await sandbox.save(
      '--title',
      'Checkout retries',
      '--decision',
      'Only on 502\n## Forged',
      '--next',
      'Write the test',
      '--blocker',
      'CI is red',
      '--question',
      'Which limit?',
    );
    writeFileSync(join(sandbox.project, 'new.ts'), '');
    const text = await sandbox.ok(['snapshot', '--mode', 'build', '--stdout']);
    expect(readFileSync(handoff, 'utf8')).toBe(text);
    for (const line of [
      '- **Mode**: build',
      '- **Project type**: node',
      '- **Branch**: main',
      '## What Happened\n- Checkout retries',
      '## Decisions\n- Only on 502 ## Forged',
      '## What’s Next\n- Write the test',
      '## Blockers\n- CI is red',
      '## Open Questions\n- Which limit?',
      '## Uncommitted Changes\n- untracked `new.ts`',
    ])
      expect(text).toContain(line);
    expect(text).toMatch(/## Recent Commits\n- [0-9a-f]{7} Start &lt;!-- here/);
    expect(text).toContain(`- **Handover**: ${id}`);
  });

  it('AF-5: says its age, its handover, whether it was edited since, and whether it was consumed', async () => {
    const text = await sandbox.ok(['snapshot', '--mode', 'fresh', '--stdout']);
    const mark = readHandoffFooter(text);
    expect(mark).toMatchObject({ intact: true, handover: expect.stringMatching(/^\d{8}-/) });
    expect(Date.now() - Date.parse(mark?.at ?? '')).toBeLessThan(60_000);
    expect(readHandoffFooter(text.replace('CI is red', 'CI is green'))?.intact).toBe(false);
    expect(readHandoffFooter(`---\ntitle: mine\n---\n${text}`)?.intact).toBe(true);
    expect(readHandoffFooter('# HANDOFF.md\nby hand')).toBeNull();
    const newest = async () => (await sandbox.json<{ newest: { id: string; status: string } }>(['status'])).newest;
    expect(await newest()).toEqual(expect.objectContaining({ id: mark?.handover, status: 'pending' }));
    await sandbox.ok(['restore']);
    expect(await newest()).toEqual(expect.objectContaining({ id: mark?.handover, status: 'consumed' }));
  });

  it('AF-1: keeps the previous HANDOFF.md in the store, byte for byte, with manual edits', async () => {
    const byHand = Buffer.from('---\nowner: me\n---\nmy own words \xff', 'latin1');
    writeFileSync(handoff, byHand);
    const { kept } = await sandbox.json<{ kept: string }>(['snapshot']);
    expect(readFileSync(kept)).toEqual(byHand);
    expect(readFileSync(handoff, 'utf8').startsWith('---\nowner: me\n---\n# HANDOFF.md')).toBe(true);
    const earlier = (await sandbox.ok(['snapshot', '--earlier'])).trim().split('\n');
    expect(earlier).toContain(kept);
    expect(earlier.length).toBeGreaterThan(1);
    expect((await sandbox.run(['doctor'])).stdout).toContain('all is well');
  });

  it('leaves the file unchanged when only the time is new', async () => {
    await sandbox.ok(['snapshot', '--mode', 'same']);
    const before = readFileSync(handoff, 'utf8');
    expect(await sandbox.json(['snapshot', '--mode', 'same'])).toMatchObject({ new: false, kept: null });
    expect(readFileSync(handoff, 'utf8')).toBe(before);
  });

  it('works outside git, without a handover, and says when there is no such folder', async () => {
    const plain = makeTempFolder();
    const text = await sandbox.ok(['snapshot', plain, '--stdout']);
    expect(text).toContain('- **Git**: none');
    expect(text).toContain('- **Handover**: none');
    expect((await sandbox.run(['snapshot', join(plain, 'nowhere')])).status).toBe(66);
  });
});

describe('handover auto', () => {
  it('prints nothing on success, also when nothing changed', async () => {
    for (let i = 0; i < 2; i++)
      expect(await sandbox.run(['auto', '--name', 'cairn'])).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(readFileSync(handoff, 'utf8')).toContain('- **Name**: cairn');
  });
});

describe('handover init --files', () => {
  it('creates the three files, keeps existing ones, and backs up what --force replaces', async () => {
    const own = makeSandbox();
    writeFileSync(join(own.project, 'SOUL.md'), 'my soul');
    const first = await own.json<InitResult>(['init', '--name', 'Cairn']);
    expect(first.done).toBe(true);
    expect(first.parts.find(({ name }) => name === 'files')?.proposals).toEqual([
      'create MEMORY.md',
      'create HANDOFF.md',
    ]);
    expect(readFileSync(join(own.project, 'SOUL.md'), 'utf8')).toBe('my soul');
    expect(await own.ok(['init', '--files'])).toContain('there is nothing to set up\n');
    const { next } = await own.json<{ next: string[] }>(['init', '--force', '--name', 'Cairn']);
    const kept = next[0]?.replace('the replaced version is at ', '') ?? '';
    expect(readFileSync(kept, 'utf8')).toBe('my soul');
    expect(readFileSync(join(own.project, 'SOUL.md'), 'utf8')).toContain('- **Name**: Cairn');
  });

  it('is undone by --remove, which keeps what somebody wrote', async () => {
    const own = makeSandbox();
    await own.ok(['init', '--files']);
    writeFileSync(join(own.project, 'MEMORY.md'), 'my memory');
    expect((await own.json<{ removed: unknown }>(['init', '--remove'])).removed).toEqual([
      { file: 'SOUL.md', outcome: 'removed', note: null },
      { file: 'MEMORY.md', outcome: 'kept', note: 'it holds more than init writes' },
      { file: 'HANDOFF.md', outcome: 'removed', note: null },
    ]);
    expect(readdirSync(own.project).sort()).toEqual(['MEMORY.md']);
  });
});

describe('handover init --remove', () => {
  it('leaves nothing that init made, and says what it left and why', async () => {
    const own = makeSandbox();
    mkdirSync(join(own.home, '.claude'));
    mkdirSync(join(own.home, '.codex'));
    writeFileSync(join(own.project, 'CLAUDE.md'), '# Mine\n');
    const before = [...listFiles(own.home), ...listFiles(own.project)];
    await own.ok(['init', '--yes', '--blocks', '--files']);
    const told = await own.ok(['init', '--remove']);
    expect([...listFiles(own.home), ...listFiles(own.project)]).toEqual(before);
    expect(existsSync(join(own.project, '.agent-handover'))).toBe(false);
    expect(told).toContain('removed  ~/.claude/settings.json  (the file, which held only hooks of claude-code)\n');
    expect(told).toContain('removed  AGENTS.md  (the file, which held only the block)\n');
    expect(told).toContain('removed  CLAUDE.md  (only the block)\n');
    expect(told).toContain(`what was captured stays in ${own.store}; to delete it: handover forget --all\n`);
  });

  it('shows with --dry-run what it would do, and changes nothing', async () => {
    const own = makeSandbox();
    mkdirSync(join(own.home, '.claude'));
    writeFileSync(join(own.project, 'CLAUDE.md'), '# Mine\n');
    await own.ok(['init', '--yes', '--blocks', '--files']);
    const before = [...listFiles(own.home), ...listFiles(own.project)];
    const told = await own.ok(['init', '--remove', '--dry-run']);
    expect(told).toContain('to remove ~/.claude/settings.json  (the file, which held only hooks of claude-code)\n');
    expect(told).toContain('to remove CLAUDE.md  (only the block)\n');
    expect(told).toContain('to remove SOUL.md\n');
    expect([...listFiles(own.home), ...listFiles(own.project)]).toEqual(before);
    const planned = await own.ok(['init', '--remove', '--dry-run', '--json']);
    expect(JSON.parse(planned.replaceAll('"to remove"', '"removed"'))).toEqual(
      JSON.parse(await own.ok(['init', '--remove', '--json'])),
    );
  });

  it('keeps what other commands wrote, and names it', async () => {
    const own = makeSandbox();
    await own.ok(['init', '--files']);
    await own.ok(['run', '--note', 'half done']);
    await own.ok(['snapshot']);
    const told = await own.ok(['init', '--remove']);
    expect(told).toContain('kept     .agent-handover/checkpoint.json  (not made by init)\n');
    expect(told).toContain('kept     memory  (not made by init)\n');
    expect(told).toContain('kept     HANDOFF.md  (it holds more than init writes)\n');
    await own.ok(['run', '--note', 'all done']);
  });
});

interface InitResult {
  done: boolean;
  parts: { name: string; proposals: string[] }[];
}

describe('handover init of a missing folder', () => {
  it('creates it where files are wanted, as agent-handoff did, but not in a dry run', async () => {
    const own = makeSandbox();
    const folder = join(own.project, 'deep', 'new');
    for (const args of [['--files', '--dry-run'], ['--remove'], []])
      expect((await own.run(['init', folder, ...args])).status).toBe(66);
    expect(existsSync(folder)).toBe(false);
    await own.ok(['init', folder, '--files']);
    expect(readdirSync(folder)).toContain('SOUL.md');
  });
});

describe('the type of a project', () => {
  it.each([
    [['package.json', 'tsconfig.json'], ['node (typescript)']],
    [['pyproject.toml', 'Makefile'], ['python']],
    [
      ['Cargo.toml', 'package.json'],
      ['node', 'rust'],
    ],
    [['app.csproj'], ['dotnet']],
    [['go.mod', 'Dockerfile'], ['go']],
    [['pom.xml'], ['java']],
    [['Makefile'], ['make']],
    [['README.md'], []],
  ])('by %j is %j', (files, types) => {
    const folder = makeTempFolder();
    for (const file of files) writeFileSync(join(folder, file), '');
    mkdirSync(join(folder, 'src'));
    expect(detectProjectTypes(folder)).toEqual(types);
    expect(existsSync(join(folder, 'src'))).toBe(true);
  });
});
