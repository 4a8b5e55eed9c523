import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolder } from '../../support/temp-store.ts';

it('docs/briefs.md has the briefs that this version compiles (else: npm run build && npm run briefs)', () => {
  const page = join(makeFolder(), 'briefs.md');
  execFileSync(process.execPath, ['scripts/write-briefs.mjs', page]);
  expect(readFileSync('docs/briefs.md', 'utf8')).toBe(readFileSync(page, 'utf8'));
});
