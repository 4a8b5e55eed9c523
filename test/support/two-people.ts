import { join } from 'node:path';
import { makeSandbox, runGit, type Sandbox } from './cli.ts';

/** Two people who work on one project, each on a machine of their own. */
export async function makeTwo(): Promise<{ alice: Sandbox; bob: Sandbox; key: string }> {
  const [alice, bob] = [makeSandbox(), makeSandbox()];
  for (const { project } of [alice, bob]) {
    runGit(project, 'init', '--quiet');
    runGit(project, 'remote', 'add', 'origin', 'https://example.invalid/acme/shop.git');
  }
  const { public_key } = await alice.json<{ public_key: string }>(['keys', 'generate', '--name', 'alice']);
  return { alice, bob, key: public_key };
}

/** Exports and signs; returns the path of the bundle. */
export async function pack(sandbox: Sandbox, ...args: string[]): Promise<string> {
  const path = join(sandbox.folder, 'work.handover');
  await sandbox.ok(['export', '--sign', '--output', path, ...args]);
  return path;
}
