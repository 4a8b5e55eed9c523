import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Handover } from '../../../src/model/handover.ts';
import { makeSandbox, runGit, type Sandbox } from '../../support/cli.ts';

/** Two people who work on one project, each on a machine of their own. */
async function makeTwo(): Promise<{ alice: Sandbox; bob: Sandbox; key: string }> {
  const [alice, bob] = [makeSandbox(), makeSandbox()];
  for (const { project } of [alice, bob]) {
    runGit(project, 'init', '--quiet');
    runGit(project, 'remote', 'add', 'origin', 'https://example.invalid/acme/shop.git');
  }
  const { public_key } = await alice.json<{ public_key: string }>(['keys', 'generate', '--name', 'alice']);
  return { alice, bob, key: public_key };
}

async function pack(sandbox: Sandbox, ...args: string[]): Promise<string> {
  const path = join(sandbox.folder, 'work.handover');
  await sandbox.ok(['export', '--sign', '--output', path, ...args]);
  return path;
}

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
  });
});
