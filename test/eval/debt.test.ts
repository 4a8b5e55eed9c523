import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readLabels, scoreLabels } from '../../eval/debt/labels.ts';
import { measureCorpus } from '../../eval/debt/sessions.ts';
import { Transcript } from '../fixtures/agents/claude-code.ts';
import { makeTempFolder } from '../support/cli.ts';
import { writeText } from '../support/transcripts.ts';

function writeSession(day: number): Transcript {
  const timestamp = `2026-01-0${day}T09:00:00.000Z`;
  const t = new Transcript({ sessionId: `5b0c7f0e-0000-4000-8000-00000000000${day}`, timestamp });
  t.human('Go on');
  t.call('toolu_1', 'Read', { file_path: '/p/cart.ts' });
  t.result('toolu_1', 'const cart = [];');
  return t;
}

describe('the evaluation of debts', () => {
  it('takes sessions of one folder in their order, packed or not', async () => {
    const corpus = makeTempFolder();
    writeText(join(corpus, 'b.jsonl'), writeSession(1).text);
    writeText(join(corpus, 'deeper/a.jsonl.gz'), gzipSync(writeSession(2).text));
    const measured = await measureCorpus(corpus, makeTempFolder());
    expect(measured.map(({ previous, parts }) => [previous?.at(-1) ?? null, parts.length])).toEqual([
      [null, 0],
      ['1', 1],
    ]);
    expect(measured[1]?.parts[0]?.found).toMatchObject([{ kind: 'file', line: 2, before: { line: 2 } }]);
  });

  it('compares what is counted with labels, by kind', () => {
    const item = (line: number, right: boolean) => ({ part: 1, kind: 'file' as const, line, right });
    const labels = {
      sessions: [
        { session: 'a', items: [item(1, true), item(2, false), item(3, true)] },
        { session: 'elsewhere', items: [item(1, true)] },
      ],
    };
    const counted = [1, 2, 4].map((line) => ({ session: 'a', part: 1, kind: 'file' as const, line }));
    const other = { session: 'b', part: 0, kind: 'file' as const, line: 1 };
    const [files, ...rest] = scoreLabels(labels, ['a', 'b'], [...counted, other]);
    expect(files).toEqual({ kind: 'file', right: 1, wrong: 1, unlabelled: 1, lost: 1 });
    expect(rest.every(({ right, wrong, unlabelled, lost }) => right + wrong + unlabelled + lost === 0)).toBe(true);
  });

  it('has labels of twenty sessions, which hold nothing of what was said in them', () => {
    const { sessions } = readLabels('test/eval/debt-labels.json');
    expect(sessions.length).toBe(20);
    expect(sessions.every(({ session }) => /^[0-9a-f-]{36}$/.test(session))).toBe(true);
  });
});
