import { describe, expect, it } from 'vitest';
import type { Handover } from '../../src/model/handover.ts';
import type { Driver } from './drivers/driver.ts';
import { listChosenDrivers } from './drivers/table.ts';
import { openHooked, work } from './hooked.ts';
import type { RecordedRequest, Step } from './model/server.ts';
import { STORY } from './story.ts';

const DECLARED = 'Retries are counted in the upload itself, because the server forgets them.';
const NEXT_STEP = 'Let the limit be set by the user';

function call(driver: Driver, tool: string, args: Record<string, unknown>): Step {
  return { call: { ...driver.nameTool(tool), args } };
}

/** What the tools returned to the model. */
function readResults(requests: readonly RecordedRequest[]): string {
  const results = requests.at(-1)?.messages.filter(({ role }) => role === 'tool') ?? [];
  return results.map(({ text }) => text).join('\n');
}

describe.each(listChosenDrivers())('the MCP server in $agent', (driver) => {
  it('gives the brief to the model, and saves what the model declares', async () => {
    const stage = await openHooked(driver);
    await work(stage, driver);
    stage.model.play('tools', [
      { call: driver.run('node --version') },
      call(driver, 'resume', { budget: 1500 }),
      call(driver, 'save', { decision: [DECLARED], next: [NEXT_STEP] }),
      { say: 'It is kept.' },
    ]);
    const run = await stage.ask(driver, { prompt: 'Tell me where we are, and keep it.', goOn: false });
    expect(run.status, run.stderr).toBe(0);

    const results = readResults(stage.model.turnsOf('tools'));
    expect(results).toMatch(/# Handover \d{8}-\d{6}-\w{4} for /);
    expect(results).toContain(STORY.decision);
    expect(results).toMatch(/saved in handover|"changed":\s*true/);

    const { stdout } = await stage.handover(['show', 'latest', '--json']);
    const { facts, session }: Handover = JSON.parse(stdout);
    expect(session).toMatchObject({ agent: driver.agent, id: expect.any(String) });
    for (const [kind, text] of [
      ['decision', DECLARED],
      ['next', NEXT_STEP],
    ])
      expect(facts).toContainEqual(expect.objectContaining({ kind, text, trust: 'declared', origin: 'agent' }));
  });
});
