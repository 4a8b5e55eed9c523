import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runGit } from '../support/cli.ts';
import { expectBrief, expectNothing } from './brief.ts';
import { listChosenDrivers } from './drivers/table.ts';
import { askNext, NEXT, openHooked, work } from './hooked.ts';
import { makeStory, OTHER_STORY, STORY } from './story.ts';
import { hasTerminal } from './terminal.ts';

const drivers = listChosenDrivers();

describe.each(drivers)('$agent', (driver) => {
  it('gives a new session nothing from another worktree', async () => {
    const stage = await openHooked(driver, 'brief');
    await work(stage, driver);
    const second = join(stage.home, 'second');
    runGit(stage.project, 'worktree', 'add', '-q', second);
    expectNothing(await askNext(stage, driver, { goOn: false, cwd: second }));
  });
});

const clearing = drivers.filter(({ clear }) => clear !== undefined);

describe.runIf(hasTerminal && clearing.length > 0)('two sessions of one project in two terminals', () => {
  it.each(clearing)('have their own briefs after /clear in $agent', async (driver) => {
    const stage = await openHooked(driver);
    const steps = makeStory(driver, stage.project);
    stage.model.play('first', steps);
    const terminal = stage.openAgent(driver, STORY.goal);
    await terminal.until('the whole story', stage.model.untilTurn('first', steps.length));
    await work(stage, driver, { story: OTHER_STORY });

    stage.model.play('cleared', []);
    await terminal.enter(driver.clear ?? '');
    await terminal.enter(NEXT);
    const request = await terminal.until('a request', stage.model.untilTurn('cleared'));
    await terminal.close();
    expectBrief(request, STORY);
    expect(JSON.stringify(request.messages)).not.toContain(OTHER_STORY.goal);
  });
});
