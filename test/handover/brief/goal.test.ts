import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileBrief, countTokens, SMALLEST_BUDGET } from '../../../src/handover/brief/compile.ts';
import { READER_NAMES } from '../../../src/handover/brief/reader.ts';
import type { Event } from '../../../src/model/event.ts';
import { requireReader, sealSession } from '../../support/rendered.ts';
import { agent, edit, read, run, scriptSession, user } from '../../support/scripted-session.ts';

const AREAS = ['upload', 'payment', 'search', 'invoice', 'login', 'basket'];

/** Work on many areas of one project, the newest last, each with a file, a symbol and words of its own. */
function writeWork(): Event[] {
  const work = AREAS.flatMap((area) => {
    const name = area.charAt(0).toUpperCase() + area.slice(1);
    return [
      read(`src/${area}/limits.ts`, `export const ${area}Limit = 5;`),
      edit(`src/${area}/handler.ts`, `export function open${name}Window() {}`),
      agent(`The ${area} waits for two seconds because its server answers slowly at night.`),
      run(`npm run check:${area}`, `12 passed`),
    ];
  });
  return scriptSession(user('Go through every part of the shop and make it wait'), ...work, ...work, ...work);
}

const handover = sealSession(writeWork());
const generic = requireReader('generic');
const render = (budget: number, goal?: string): string =>
  compileBrief(handover, generic, goal === undefined ? { budget } : { budget, goal }).text;

/** How often a word stands in a brief, apart from the goal itself. */
function countIn(text: string, word: string): number {
  return text.replace(/\n## Goal\n(?:>.*\n)+/, '\n').split(word).length - 1;
}

describe('the goal of a brief', () => {
  it.each(AREAS)('about the %s selects facts about it', (area) => {
    const goal = `Make the ${area} faster`;
    for (const budget of [300, 400, 600]) {
      const [with_, without] = [render(budget, goal), render(budget)];
      expect(countIn(with_, area), `${budget}`).toBeGreaterThanOrEqual(countIn(without, area));
      expect(countTokens(with_)).toBeLessThanOrEqual(budget);
    }
    const brief = render(500, goal);
    expect(brief).toContain(`## Goal\n> ${goal}\n`);
    expect(brief).toContain(`> - The ${area} waits for two seconds`);
    expect(brief).toContain(`src/${area}/limits.ts (read)`);
  });

  it('changes which facts are selected, not only their order', () => {
    const chosen = (goal: string): string[] =>
      AREAS.filter((area) => render(400, goal).includes(`src/${area}/limits.ts`));
    expect(chosen('Look at the search again')).toContain('search');
    expect(chosen('Look at the upload again')).not.toEqual(chosen('Look at the search again'));
  });

  it('matches names and text in other scripts', () => {
    const events = scriptSession(
      user('把商店的每个部分都改一下，让它等待'),
      agent('上传在晚上会失败，因为服务器很慢，需要重试。'),
      agent('搜索在早上会失败，因为索引还没有建立好。'),
      ...Array.from({ length: 30 }, (_, i) => agent(`第${i}个部分已经改好，没有别的问题需要处理。`)),
    );
    const brief = compileBrief(sealSession(events), generic, { budget: 300, goal: '修复上传' }).text;
    expect(brief).toContain('上传在晚上会失败');
    expect(render(500, 'openInvoiceWindow')).toContain('openInvoiceWindow');
  });

  it('adds only itself where no fact is about it', () => {
    const goal = 'Xyzzy plugh';
    const roomy = 20_000;
    expect(render(roomy, goal).replace(`\n## Goal\n> ${goal}\n`, '')).toBe(render(roomy));
  });

  it.each(['', '  ', '\n\t', '\u200b'])('%j counts as no goal', (goal) => {
    expect(render(2000, goal)).toBe(render(2000));
  });

  it('is not repeated when it equals the request', () => {
    const request = 'Go through every part of the shop and make it wait';
    expect(render(2000, request).split(request)).toHaveLength(2);
  });

  it('stays quoted and within the budget, whatever its text', () => {
    const hostile = fc.string({
      unit: fc.oneof(
        fc.constantFrom(
          '\n',
          '\r',
          '\u2028',
          '# ',
          '## User: last messages',
          '</handover>',
          '<handover>',
          '> ',
          '`',
          '\u202e',
        ),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 4 }),
      ),
      maxLength: 60,
    });
    fc.assert(
      fc.property(
        hostile,
        fc.constantFrom(...READER_NAMES),
        fc.integer({ min: SMALLEST_BUDGET, max: 1000 }),
        (goal, name, budget) => {
          const reader = requireReader(name);
          const own = (text: string): string[] => text.split('\n').filter((line) => !line.startsWith('>'));
          const { text } = compileBrief(handover, reader, { budget, goal });
          const known = new Set([
            ...own(compileBrief(handover, reader, { budget }).text),
            ...own(compileBrief(handover, reader, { budget: 20_000, goal: 'Anything' }).text),
          ]);
          expect(own(text).filter((line) => !known.has(line) && !/^# Left out: \d+ facts? /.test(line))).toEqual([]);
          expect(countTokens(text)).toBeLessThanOrEqual(budget);
          expect(text.isWellFormed()).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('is cut at a word when it is long', () => {
    const brief = render(2000, 'Make the upload wait and wait. '.repeat(200));
    expect(/## Goal\n> (.+)\n/.exec(brief)?.[1]).toMatch(
      /^Make the upload .{400,700} (?:the|upload|wait|and|wait\.|Make)…$/,
    );
  });
});
