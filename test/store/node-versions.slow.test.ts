import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeOnNewerNodes } from '../support/other-node.ts';
import { makeFolder } from '../support/temp-store.ts';

function run(
  node: string,
  folder: string,
  ...args: string[]
): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(node, ['bin/handover.cjs', ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: folder, HANDOVER_HOME: join(folder, 'store') },
  });
}

describeOnNewerNodes('on Node %i, whose SQLite is built in', (node) => {
  it('saves, indexes and lists by node:sqlite without a warning', () => {
    const folder = makeFolder();
    expect(run(node, folder, 'save', '--title', 'one', '--project', folder)).toMatchObject({
      status: 0,
      stderr: '',
    });
    const list = run(node, folder, 'list', '--json');
    expect(list).toMatchObject({ status: 0, stderr: '' });
    expect(JSON.parse(list.stdout)).toMatchObject([{ title: 'one' }]);
    const doctor = run(node, folder, 'doctor', '--json');
    expect(JSON.parse(doctor.stdout)).toMatchObject({ sqlite: 'node', intact: 1, findings: [] });
    expect(
      readFileSync(join(folder, 'store', 'index.sqlite'))
        .subarray(0, 15)
        .toString(),
    ).toBe('SQLite format 3');
  });

  it('shares one index with this Node, both ways', () => {
    const folder = makeFolder();
    const titles = (node: string): string[] => {
      const list = run(node, folder, 'list', '--json');
      expect(list).toMatchObject({ status: 0, stderr: '' });
      return JSON.parse(list.stdout).map((row: { title: string }) => row.title);
    };
    run(process.execPath, folder, 'save', '--title', 'a', '--project', folder);
    expect(titles(process.execPath)).toEqual(['a']);
    run(node, folder, 'save', '--title', 'b', '--project', folder);
    expect(titles(node)).toEqual(['b', 'a']);
    run(process.execPath, folder, 'save', '--title', 'c', '--project', folder);
    expect(titles(process.execPath)).toEqual(['c', 'b', 'a']);
    expect(titles(node)).toEqual(['c', 'b', 'a']);
  });
});
