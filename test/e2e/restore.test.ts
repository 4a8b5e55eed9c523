import { describe, expect, it } from 'vitest';
import { expectBrief, expectHint } from './brief.ts';
import type { Compaction, Driver } from './drivers/driver.ts';
import { listChosenDrivers } from './drivers/table.ts';
import { askNext, openHooked, work } from './hooked.ts';
import type { Stage } from './stage.ts';
import { makeStory, STORY } from './story.ts';

async function compact(stage: Stage, driver: Driver, compaction: Compaction): Promise<void> {
  const isByTokens = compaction.by === 'tokens';
  const check = { call: driver.run('node --version'), ...(isByTokens && { tokens: compaction.tokens }) };
  stage.model.play('compaction', isByTokens ? [check, check, check] : []);
  const prompt = isByTokens ? 'Check it three times.' : compaction.prompt;
  await stage.ask(driver, { prompt, goOn: true }, isByTokens ? compaction : {});
}

describe.each(listChosenDrivers())('with the hooks of $agent', (driver) => {
  for (const compaction of driver.compactions) {
    it(`the brief is back after a compaction by ${compaction.by}`, async () => {
      const stage = await openHooked(driver);
      await work(stage, driver);
      await compact(stage, driver, compaction);
      const { requests } = stage.model;
      const at = requests.findLastIndex(({ kind }) => kind === 'summary');
      expect(at, 'the agent compacted').toBeGreaterThan(0);
      const next = requests.slice(at).find(({ kind }) => kind === 'turn');
      if (compaction.restoredAtOnce && next !== undefined) expectBrief(next, STORY);
      expectBrief(await askNext(stage, driver, { goOn: true }), STORY);
    });
  }

  it('a new session gets a hint about the last one', async () => {
    const stage = await openHooked(driver);
    await work(stage, driver);
    expectHint(await askNext(stage, driver, { goOn: false }));
  });

  it('a new session gets the brief if the user wants that', async () => {
    const stage = await openHooked(driver, 'brief');
    await work(stage, driver);
    expectBrief(await askNext(stage, driver, { goOn: false }), STORY);
  });

  it('what was done before a kill is in the next session', async () => {
    const stage = await openHooked(driver, 'brief');
    const steps = makeStory(driver, stage.project).slice(0, -1);
    stage.model.play('killed', [...steps, { hang: true }]);
    await stage.askAndKill(driver, { prompt: STORY.goal, goOn: false });
    expectBrief(await askNext(stage, driver, { goOn: false }), STORY);
  });
});
