import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compileBrief, countTokens } from '../../../src/handover/brief/compile.ts';
import { openHandover } from '../../../src/handover/seal.ts';
import type { Fact } from '../../../src/model/fact.ts';
import { HUMAN, makeDraft, makeFact, OBSERVED, sealDraft } from '../../support/facts.ts';
import { isOwnLine, readSection, requireReader } from '../../support/rendered.ts';

const STORE = 'test/fixtures/written-before/store/handovers';
const paths = readdirSync(STORE, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.json'));
const generic = requireReader('generic');
const SAID = 'Also said by the agent, unverified';

describe.each(paths)('the brief of %s, written by an earlier version', (path) => {
  const handover = openHandover(readFileSync(join(STORE, path)), basename(path, '.json'), path);

  it('is within its budget and quoted', () => {
    for (const budget of [256, 1000, 4000]) {
      const { text } = compileBrief(handover, generic, { budget });
      expect(countTokens(text)).toBeLessThanOrEqual(budget);
      expect(text.split('\n').filter((line) => !line.startsWith('> ') && !isOwnLine(line))).toEqual([]);
    }
  });

  it('has the sentences of the agent only where they are called unverified', () => {
    const { text } = compileBrief(handover, generic, { budget: 20_000 });
    const isSentence = ({ trust, origin, detail }: Fact): boolean =>
      trust === 'quoted' && origin === 'agent' && detail?.role === undefined && detail?.about === undefined;
    const said = readSection(text, SAID).join('\n');
    const rest = text.replace(/\n## Also said[\s\S]*$/, '');
    for (const fact of handover.facts.filter(isSentence).filter(({ text: sentence }) => sentence.length > 60)) {
      const shown = fact.text.replace(/\s+/g, ' ').slice(0, 60);
      if (said.includes(shown) && !handover.facts.some((one) => one !== fact && one.text.includes(shown)))
        expect(rest).not.toContain(shown);
    }
  });
});

describe('a handover without roles', () => {
  const weighed = { points: 900, names: { retryUpload: 3 }, word: 90, age: 3 };
  const facts = [
    makeFact('goal', 'Make the upload retry', { ...HUMAN, detail: { ...weighed, role: 'current', message: 1 } }),
    makeFact('decision', 'We use backoff instead of a queue.', { detail: weighed }),
    makeFact('rejected', 'A queue was rejected.', { detail: weighed }),
    makeFact('next', 'The next step is to write the tests.', { detail: weighed }),
    makeFact('blocker', 'The call is blocked by CORS.', { detail: weighed }),
    makeFact('note', 'The reader swallows the error.', { detail: weighed }),
    makeFact('note', 'I stop here.', { detail: { ...weighed, role: 'stopped' } }),
    makeFact('file', 'src/upload.ts', { ...OBSERVED, status: 'edited', detail: { ...weighed, edits: 2 } }),
    makeFact('reference', 'commit 1a2b3c4 on main: Add a retry', { ...OBSERVED, detail: { about: 'commit' } }),
  ];
  const { text, leftOut } = compileBrief(sealDraft(makeDraft(facts)), generic);

  it('shows what the agent said by keywords as said, and claims nothing of it', () => {
    expect(readSection(text, SAID)).toEqual([
      '- We use backoff instead of a queue.',
      '- A queue was rejected.',
      '- The next step is to write the tests.',
      '- The call is blocked by CORS.',
      '- The reader swallows the error.',
    ]);
    expect(text).not.toContain('## What was settled');
  });

  it('shows its request, files, commits and last words', () => {
    expect(readSection(text, 'The user')).toEqual(['Now: "Make the upload retry"']);
    expect(readSection(text, 'Files')).toEqual(['Changed: src/: upload.ts (2 edits)']);
    expect(readSection(text, 'Commands')).toEqual(['commit 1a2b3c4 on main: Add a retry']);
    expect(text).toContain('I stop here.');
    expect(leftOut).toEqual([]);
  });

  it('has no list of the names that its facts carry', () => {
    expect(text).not.toContain('retryUpload');
  });
});
