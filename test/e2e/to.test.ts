import { describe, expect, it } from 'vitest';
import { expectBrief } from './brief.ts';
import type { Driver } from './drivers/driver.ts';
import { listChosenDrivers } from './drivers/table.ts';
import { Stage } from './stage.ts';
import { makeStory, STORY } from './story.ts';
import { hasTerminal } from './terminal.ts';

const WAYS: readonly (readonly [string, string])[] = [
  ['claude-code', 'codex'],
  ['codex', 'gemini'],
  ['gemini', 'claude-code'],
  ['claude-code', 'qwen'],
  ['qwen', 'copilot'],
  ['copilot', 'opencode'],
  ['opencode', 'cline'],
  ['cline', 'codex'],
];

const drivers = listChosenDrivers();
const findDriver = (name: string): Driver[] => drivers.filter(({ agent }) => agent === name);
const ways = WAYS.flatMap(([from, to]) =>
  findDriver(from).flatMap((giver) => findDriver(to).map((taker) => ({ from, to, giver, taker }))),
);

describe.runIf(hasTerminal)('handover to', () => {
  it.each(ways)('from $from to $to brings goal, file and decision to the model', async ({ giver, taker }) => {
    const stage = await Stage.open(giver, taker);
    stage.model.play('work', makeStory(giver, stage.project));
    const run = await stage.ask(giver, { prompt: STORY.goal, goOn: false });
    expect(run.status, run.stderr).toBe(0);

    stage.model.play('next', [{ hang: true }]);
    const terminal = stage.openTerminal(['to', taker.agent]);
    const request = await terminal.until('a request', stage.model.untilTurn('next'));
    await terminal.close();

    expectBrief(request, STORY);
  });

  it.each(drivers)('a file that is only named in the brief is not attached by $agent', async (driver) => {
    const stage = await Stage.open(driver);
    await stage.handover(['save', '--summary', `See @${STORY.file} and @1`, '--next', 'Go on']);
    stage.model.play('next', [{ hang: true }]);
    const terminal = stage.openTerminal(['to', driver.agent]);
    const { messages } = await terminal.until('a request', stage.model.untilTurn('next'));
    await terminal.close();

    const seen = messages.map(({ text }) => text).join('\n');
    expect(seen).toContain(STORY.file);
    expect(seen).not.toContain('const LIMIT');
    expect(seen).not.toContain('<tagged_files>');
  });
});
