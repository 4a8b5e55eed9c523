import { expect, it } from 'vitest';
import type { SearchHit } from '../../src/search/query.ts';
import { type Desk, HANDOVER, makeDesk, runProcess } from '../support/cli.ts';
import { openEmbeddingServer } from '../support/embedding-server.ts';
import { tellWork, writeSession } from '../support/hooks.ts';
import { describeOnNewerNodes } from '../support/other-node.ts';
import { configure } from '../support/publishing.ts';

interface Answer {
  by: string;
  hits: SearchHit[];
  sessions?: { by: string };
  meaning?: { missing: number; trouble: string | null };
}

describeOnNewerNodes('on Node %i, whose SQLite is built in', (node) => {
  const find = async (desk: Desk, ...args: string[]): Promise<Answer> => {
    const command = [node, HANDOVER, 'search', '--json', ...args];
    const { stdout, stderr } = await runProcess(command, {
      cwd: desk.project,
      env: { PATH: process.env.PATH, ...desk.env },
    });
    expect(stderr).toBe('');
    return JSON.parse(stdout);
  };

  it('facts, sessions and semantic matches are found, as on this Node', async () => {
    const desk = makeDesk();
    const server = await openEmbeddingServer();
    const session = writeSession(desk);
    tellWork(session, { goal: 'Paint the automobile', file: `${desk.project}/a.ts`, decision: 'ok' });
    await desk.save('--title', 'Colours', '--decision', 'The automobile is painted blue');
    expect(await find(desk, '--sessions', 'automobile')).toMatchObject({
      by: 'index',
      sessions: { by: 'index' },
      hits: expect.arrayContaining([expect.objectContaining({ what: 'session', id: session.id })]),
    });
    configure(desk, `[search.meaning]\nurl = "${server.url}/v1"\nmodel = "toy"\n`);
    const found = await find(desk, 'vehicle');
    expect(found).toMatchObject({
      by: 'index',
      meaning: { missing: 0, trouble: null },
      hits: [{ text: 'The automobile is painted blue' }],
    });
    expect(await desk.json(['search', 'vehicle'])).toEqual(found);
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
