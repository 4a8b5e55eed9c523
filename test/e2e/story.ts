import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runGit } from '../support/cli.ts';
import type { Driver } from './drivers/driver.ts';
import type { Step } from './model/server.ts';

/** What a scripted session is about, and what of it must reach the next one. */
export interface Story {
  goal: string;
  file: string;
  command: string;
  decision: string;
}

export const STORY: Story = {
  goal: 'Make uploads retry twice when the server answers 503',
  file: 'src/upload.mjs',
  command: 'node --check src/upload.mjs',
  decision: 'I decided to wait 250 ms between the tries because the server throttles faster clients.',
};

/** Of another session in the same project. */
export const OTHER_STORY: Story = {
  goal: 'Let the gallery show the newest pictures first',
  file: 'src/gallery.mjs',
  command: 'node --check src/gallery.mjs',
  decision: 'I decided to sort by the date of the file because 40 pictures have no other date.',
};

const FROM = 'const LIMIT = 1;';
const TO = 'const LIMIT = 3;';

/** A small repository for the stories to happen in. */
export function makeRepository(folder: string): void {
  for (const { file } of [STORY, OTHER_STORY]) {
    mkdirSync(join(folder, 'src'), { recursive: true });
    writeFileSync(join(folder, file), `${FROM}\n\nexport const describe = () => \`at most \${LIMIT}\`;\n`);
  }
  runGit(folder, 'init', '-q');
  runGit(folder, 'add', '.');
  runGit(folder, 'commit', '-q', '-m', 'First');
}

/** Edits the file, states the decision and runs the command. */
export function makeStory(driver: Driver, project: string, story: Story = STORY): Step[] {
  return [
    ...driver.edit(join(project, story.file), { from: FROM, to: TO }).map((call) => ({ call })),
    { call: driver.run(story.command), say: `The file is changed. ${story.decision}` },
    { say: 'The limit is three now, and the file is in order.' },
  ];
}
