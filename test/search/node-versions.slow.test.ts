import { expect, it } from 'vitest';
import type { SearchHit } from '../../src/search/query.ts';
import { HANDOVER, makeSandbox, runProcess, type Sandbox } from '../support/cli.ts';
import { openEmbeddingServer } from '../support/embedding-server.ts';
import { writeSession, writeWork } from '../support/hooks.ts';
import { describeOnNewerNodes } from '../support/other-node.ts';
import { configure } from '../support/publishing.ts';

interface Answer {
  by: string;
  hits: SearchHit[];
  sessions?: { by: string };
  meaning?: { missing: number; trouble: string | null };
}

describeOnNewerNodes('on Node %i, whose SQLite is built in', (node) => {
  const find = async (sandbox: Sandbox, ...args: string[]): Promise<Answer> => {
    const command = [node, HANDOVER, 'search', '--json', ...args];
    const { stdout, stderr } = await runProcess(command, {
      cwd: sandbox.project,
      env: { PATH: process.env.PATH, ...sandbox.env },
    });
    // A search by meaning finds what was not typed.
    expect(stderr.replace(/^note: nothing matches as typed.*\n/, '')).toBe('');
    return JSON.parse(stdout);
  };

  it('facts, sessions and semantic matches are found, as on this Node', async () => {
    const sandbox = makeSandbox();
    const server = await openEmbeddingServer();
    const session = writeSession(sandbox);
    writeWork(session, { goal: 'Paint the automobile', file: `${sandbox.project}/a.ts`, decision: 'ok' });
    await sandbox.save('--title', 'Colours', '--decision', 'The automobile is painted blue');
    expect(await find(sandbox, '--sessions', 'automobile')).toMatchObject({
      by: 'index',
      sessions: { by: 'index' },
      hits: expect.arrayContaining([expect.objectContaining({ what: 'session', id: session.id })]),
    });
    configure(sandbox, `[search.meaning]\nurl = "${server.url}/v1"\nmodel = "toy"\n`);
    const found = await find(sandbox, 'vehicle');
    expect(found).toMatchObject({
      by: 'index',
      meaning: { missing: 0, trouble: null },
      hits: expect.arrayContaining([expect.objectContaining({ text: 'The automobile is painted blue' })]),
    });
    expect({ schema: 'search/1', ...(await sandbox.json(['search', 'vehicle'])) }).toEqual(found);
    await server.close();
  });

  it('sqlite-vec is loaded into it', async () => {
    const script = `
      const { DatabaseSync } = require('node:sqlite');
      const database = new DatabaseSync(':memory:', { allowExtension: true });
      database.loadExtension(require('sqlite-vec').getLoadablePath());
      console.log(database.prepare('SELECT vec_version() AS version').get().version);`;
    const { stdout } = await runProcess([node, '-e', script], { cwd: process.cwd() });
    expect(stdout).toMatch(/^v\d+\.\d+\.\d+/);
  });
});
