import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runGit } from '../support/cli.ts';
import type { Driver } from './drivers/driver.ts';
import type { Step } from './model/server.ts';

/** What every scripted session is about: what of it must reach the next one. */
export const STORY = {
  goal: 'Make uploads retry twice when the server answers 503',
  file: 'src/upload.mjs',
  command: 'node --check src/upload.mjs',
  decision: 'I decided to wait 250 ms between the tries because the server throttles faster clients.',
} as const;

const FROM = 'const TRIES = 1;';
const TO = 'const TRIES = 3;';

/** A small repository for the story to happen in. */
export function makeRepository(folder: string): void {
  mkdirSync(join(folder, 'src'), { recursive: true });
  writeFileSync(
    join(folder, STORY.file),
    `${FROM}\n\nexport function describe() {\n  return \`\${TRIES} tries\`;\n}\n`,
  );
  runGit(folder, 'init', '-q');
  runGit(folder, 'add', '.');
  runGit(folder, 'commit', '-q', '-m', 'Uploads');
}

/** Edits the file, runs the command and states the decision. */
export function tellStory(driver: Driver, project: string): Step[] {
  return [
    ...driver.edit(join(project, STORY.file), { from: FROM, to: TO }).map((call) => ({ call })),
    { call: driver.run(STORY.command), say: 'The file is changed; now it is checked.' },
    { say: `Uploads are tried three times now. ${STORY.decision}` },
  ];
}
