import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { captureWork } from '../../support/captured-work.ts';
import { makeSandbox, runGit } from '../../support/cli.ts';

it('a note does not hide that the branch of the session is not checked out', async () => {
  const sandbox = makeSandbox();
  const { project } = sandbox;
  writeFileSync(join(project, 'a.ts'), 'a\n');
  runGit(project, 'init', '-q', '-b', 'main');
  runGit(project, 'add', '-A');
  runGit(project, 'commit', '-qm', 'Begin');
  runGit(project, 'checkout', '-q', '-b', 'other');
  await captureWork(sandbox, { day: 3, steps: [{ ask: 'Tidy the parser' }, { edit: 'a.ts' }] });
  const tellsIt = async (): Promise<boolean> => /^> branch main -> other$/m.test(await sandbox.ok(['resume']));
  expect(await tellsIt()).toBe(true);
  await sandbox.ok(['save', 'Half of it is done']);
  expect(await tellsIt()).toBe(true);
});
