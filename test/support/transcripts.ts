import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { type Agent, type FoundSession, startReadStats } from '../../src/agents/agent.ts';
import { tornBytes } from './torn-bytes.ts';

export function writeText(path: string, text: string | Uint8Array): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

export function toJsonLines(rows: readonly unknown[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

/** Reading a transcript that was torn anywhere, or has any JSON anywhere in it, comes to an end without an error. */
export function expectToSurviveDamage(agent: Agent, session: FoundSession, content: Buffer): void {
  const place = fc.nat({ max: content.length });
  const withRows = fc
    .tuple(place, fc.array(fc.json(), { maxLength: 3 }))
    .map(([at, rows]) =>
      Buffer.concat([content.subarray(0, at), Buffer.from(`\n${rows.join('\n')}\n`), content.subarray(at)]),
    );
  fc.assert(
    fc.property(fc.oneof(tornBytes(content), withRows), (bytes) => {
      writeText(session.path, bytes);
      const found = agent.inspectFile(session.path) ?? session;
      expect([...agent.readEvents(found, startReadStats())].length).toBeLessThanOrEqual(bytes.length);
    }),
    { numRuns: 150 },
  );
}
