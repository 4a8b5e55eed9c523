// Writes schemas/*.json from the schemas of the model, and schemas/commands/*.json from those of what commands print. A test
// compares the files with both, so run this after changing one: npm run build && npm run schemas
import { mkdirSync, writeFileSync } from 'node:fs';
import { toJsonSchema } from '@valibot/to-json-schema';
import { Event, Fact, Handover, JournalEntry } from '../dist/internals/index.mjs';
import { COMMAND_SCHEMAS } from './command-schemas.mjs';

const commands = Object.entries(COMMAND_SCHEMAS).map(([name, schema]) => [`commands/${name}`, schema]);
const schemas = { event: Event, fact: Fact, handover: Handover, 'journal-entry': JournalEntry };

mkdirSync('schemas/commands', { recursive: true });
for (const [path, schema] of [...Object.entries(schemas), ...commands]) {
  const json = toJsonSchema(schema, { errorMode: 'ignore', target: 'draft-2020-12' });
  const title = path.replace('commands/', '');
  writeFileSync(`schemas/${path}.json`, `${JSON.stringify({ title, ...json }, null, 2)}\n`);
  console.log(`schemas/${path}.json`);
}
