import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileBrief, countTokens, SMALLEST_BUDGET } from '../../../src/handover/brief/compile.ts';
import { READER_NAMES } from '../../../src/handover/brief/reader.ts';
import type { Event } from '../../../src/model/event.ts';
import { isOwnLine, readSection, requireReader, sealSession } from '../../support/rendered.ts';
import { agent, edit, read, run, scriptSession, user } from '../../support/scripted-session.ts';

const AREAS = ['upload', 'payment', 'search', 'invoice', 'login', 'basket'];

/** Work on many areas of one project, the newest last, each with a request, files and words of its own. */
function writeWork(): Event[] {
  const work = AREAS.flatMap((area) => [
    user(`Look at how the ${area} of the shop waits for its server`),
    read(`src/${area}/limits.ts`, `export const ${area}Limit = 5;`),
    edit(`src/${area}/handler.ts`, 'wait(2000);'),
    run(`npm run check:${area}`, `12 passed`),
    agent(
      `The ${area} waits for two seconds. ${`In the ${area} nothing else had to be changed, as its server is fast. `.repeat(4)}`,
    ),
  ]);
  return scriptSession(...work);
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
  it.each(AREAS.slice(0, -2))('about the %s, which is not among the newest work, gives more room to it', (area) => {
    const goal = `Make the ${area} faster`;
    const budgets = [500, 600, 700, 800, 900, 1000];
    const count = (text: string): number => countIn(text, area) / text.length;
    const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
    const without = sum(budgets.map((budget) => count(render(budget))));
    expect(sum(budgets.map((budget) => count(render(budget, goal))))).toBeGreaterThanOrEqual(without);
    for (const budget of budgets) expect(countTokens(render(budget, goal))).toBeLessThanOrEqual(budget);
    const brief = render(700, goal);
    expect(brief).toContain(`## Goal\n> ${goal}\n`);
    expect(brief).toContain(`The ${area} waits for two seconds.`);
    expect(brief).toMatch(new RegExp(`src/${area}/: handler\\.ts`));
  });

  it('changes which files are shown, not only their order', () => {
    const shown = (goal: string): string[] =>
      AREAS.filter((area) => readSection(render(400, goal), 'Files').join('\n').includes(`src/${area}/`));
    expect(shown('Look at the upload again')).toContain('upload');
    expect(shown('Look at the basket again')).not.toContain('upload');
  });

  it('matches names and text in other scripts', () => {
    const turns = ['上传', '搜索', '支付', '登录', '发票'].flatMap((area) => [
      user(`请检查商店的${area}为什么在晚上会失败，然后修复它`),
      agent(`${area}在晚上会失败，因为服务器很慢，需要重试。`.repeat(6)),
    ]);
    const session = sealSession(scriptSession(...turns));
    const count = (goal: string): number =>
      [450, 550, 650, 750, 850]
        .map((budget) => compileBrief(session, generic, { budget, goal }).text)
        .reduce((sum, text) => sum + countIn(text, '上传在晚上会失败'), 0);
    expect(count('修复上传')).toBeGreaterThan(count('别的事情'));
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
    const request = 'Look at how the basket of the shop waits for its server';
    expect(render(2000, request)).toBe(render(2000, request).replace(/\n## Goal\n(?:>.*\n)+/, ''));
  });

  it('stays quoted and within the budget, whatever its text', () => {
    const hostile = fc.string({
      unit: fc.oneof(
        fc.constantFrom('\n', '\r', '\u2028', '# ', '## The user', '</handover>', '<handover>', '> ', '`', '\u202e'),
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
          const { text } = compileBrief(handover, reader, { budget, goal });
          expect(text.split('\n').filter((line) => !line.startsWith('> ') && !isOwnLine(line))).toEqual([]);
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
