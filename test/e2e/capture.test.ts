import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Handover } from '../../src/model/handover.ts';
import { listChosenDrivers } from './drivers/table.ts';
import { Stage } from './stage.ts';
import { makeStory, STORY } from './story.ts';

describe.each(listChosenDrivers())('the transcript of $agent', (driver) => {
  it('gives goal, file, command and the closing words', async () => {
    const stage = await Stage.open(driver);
    stage.model.play('work', makeStory(driver, stage.project));
    const run = await stage.ask(driver, { prompt: STORY.goal, goOn: false });
    expect(run.status, run.stderr).toBe(0);
    expect(readFileSync(join(stage.project, STORY.file), 'utf8')).toContain('LIMIT = 3');

    const { stdout } = await stage.handover(['capture', '--agent', driver.agent, '--json']);
    const { facts, session }: Handover = JSON.parse(stdout);
    const texts = (kind: string): string[] => facts.filter((fact) => fact.kind === kind).map(({ text }) => text);
    expect(session.agent).toBe(driver.agent);
    expect(texts('goal')).toContainEqual(expect.stringContaining(STORY.goal));
    expect(texts('file')).toContainEqual(expect.stringContaining(STORY.file));
    expect([...texts('command'), ...texts('check')]).toContainEqual(expect.stringContaining(STORY.command));
    expect(texts('note')).toContainEqual(expect.stringContaining('250 ms'));
  });
});
