import { readFileSync } from 'node:fs';
import { toJsonSchema } from '@valibot/to-json-schema';
import { describe, expect, it } from 'vitest';
import { COMMAND_SCHEMAS } from '../../scripts/command-schemas.mjs';
import { Event } from '../../src/model/event.ts';
import { Fact } from '../../src/model/fact.ts';
import { Handover } from '../../src/model/handover.ts';
import { JournalEntry } from '../../src/model/journal-entry.ts';

describe('the JSON Schema files', () => {
  it.each([
    ['event', Event],
    ['fact', Fact],
    ['handover', Handover],
    ['journal-entry', JournalEntry],
  ] as const)(
    'include schemas/%s.json as the model defines it (else: npm run build && npm run schemas)',
    (name, schema) => {
      const json = toJsonSchema(schema, { errorMode: 'ignore', target: 'draft-2020-12' });
      expect(JSON.parse(readFileSync(`schemas/${name}.json`, 'utf8'))).toEqual({ title: name, ...json });
    },
  );

  it.each(Object.entries(COMMAND_SCHEMAS))(
    'include schemas/commands/%s.json as scripts/command-schemas.mjs defines it (else: npm run schemas)',
    (name, schema) => {
      const json = toJsonSchema(schema, { errorMode: 'ignore', target: 'draft-2020-12' });
      expect(JSON.parse(readFileSync(`schemas/commands/${name}.json`, 'utf8'))).toEqual({ title: name, ...json });
    },
  );
});
