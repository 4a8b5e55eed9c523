import { expect } from 'vitest';
import type { Driver } from './drivers/driver.ts';
import { writeSettings } from './drivers/settings.ts';
import type { RecordedRequest } from './model/server.ts';
import { Stage, type StageOptions } from './stage.ts';
import { makeStory, STORY, type Story } from './story.ts';

export const NEXT = 'Go on with it.';

/** A stage on which an agent has its hooks; `startup` is what the user wants for new sessions. */
export async function openHooked(driver: Driver, startup?: 'brief'): Promise<Stage> {
  const stage = await Stage.open(driver);
  if (startup !== undefined)
    writeSettings(stage.home, '.config/agent-handover/config.toml', `[restore]\nstartup = "${startup}"\n`);
  await stage.handover(['hooks', 'install', '--agent', driver.agent]);
  return stage;
}

export interface WorkOptions extends StageOptions {
  story?: Story;
}

/** A whole session that follows the story. */
export async function work(stage: Stage, driver: Driver, options: WorkOptions = {}): Promise<void> {
  const { story = STORY, cwd = stage.project } = options;
  stage.model.play('work', makeStory(driver, cwd, story));
  const run = await stage.ask(driver, { prompt: story.goal, goOn: false }, options);
  expect(run.status, run.stderr).toBe(0);
}

export interface NextOptions extends StageOptions {
  goOn: boolean;
}

/** The first request of the next prompt that a hook can reach. */
export async function askNext(stage: Stage, driver: Driver, options: NextOptions): Promise<RecordedRequest> {
  stage.model.play('next', [{ call: driver.run('node --version') }, { say: 'Done.' }]);
  await stage.ask(driver, { prompt: NEXT, goOn: options.goOn }, options);
  const turns = stage.model.turnsOf('next');
  const reached = turns[driver.reachedBy === 'start' ? 0 : 1];
  if (reached === undefined) throw new Error(`the model was asked ${turns.length} times`);
  return reached;
}
