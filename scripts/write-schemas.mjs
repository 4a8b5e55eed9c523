// Writes schemas/*.json from the schemas of the model. A test compares the files with the model, so run this after
// changing one: npm run build && npm run schemas
import { mkdirSync, writeFileSync } from 'node:fs';
import { toJsonSchema } from '@valibot/to-json-schema';
import { Event, Fact, Handover, JournalEntry } from '../dist/internals/index.mjs';

const schemas = { event: Event, fact: Fact, handover: Handover, 'journal-entry': JournalEntry };

mkdirSync('schemas', { recursive: true });
for (const [name, schema] of Object.entries(schemas)) {
  const json = toJsonSchema(schema, { errorMode: 'ignore', target: 'draft-2020-12' });
  writeFileSync(`schemas/${name}.json`, `${JSON.stringify({ title: name, ...json }, null, 2)}\n`);
  console.log(`schemas/${name}.json`);
}
