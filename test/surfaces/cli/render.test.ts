import { beforeAll, describe, expect, it } from 'vitest';
import { errorCode, inPairs, makeSandbox, makeTempFolder } from '../../support/cli.ts';
import { saveSample } from '../../support/samples.ts';

const sandbox = makeSandbox();
let small = '';
let large = '';

beforeAll(async () => {
  small = await sandbox.save(
    '--title',
    'Small',
    '--summary',
    'Half done',
    '--next',
    'Finish',
    '--constraint',
    'No new dependency',
  );
  const facts = Array.from({ length: 400 }, (_, at) => ({
    kind: at % 2 === 0 ? ('decision' as const) : ('note' as const),
    text: `Fact ${at}: ${'välue '.repeat(20)}`,
  }));
  large = saveSample(sandbox.machine, {
    summary: 'A long summary. '.repeat(4000),
    facts,
    pins: ['Always here'],
  }).id;
});

describe('handover render', () => {
  it('prints the same bytes in any time zone, language and folder', async () => {
    const surroundings = [
      {},
      { env: { TZ: 'Asia/Tokyo', LANG: 'de_DE.UTF-8', LC_ALL: 'tr_TR.UTF-8' } },
      { env: { TZ: 'America/St_Johns', LANG: 'C' }, cwd: makeTempFolder() },
      { env: { COLUMNS: '40', TERM: 'dumb', NO_COLOR: '1' } },
    ];
    const texts = await inPairs(surroundings, (options) => sandbox.ok(['render', large], options));
    expect(new Set(texts).size).toBe(1);
  });

  it('words the brief for the agent that reads it', async () => {
    const targets = ['generic', 'claude-code', 'codex', 'gemini'];
    const texts = await inPairs(targets, (target) => sandbox.ok(['render', small, '--target', target]));
    expect(new Set(texts).size).toBe(targets.length);
    const of = (target: string): string => texts[targets.indexOf(target)] ?? '';
    expect(of('claude-code')).toMatch(/CLAUDE\.md.*<handover>.*<\/handover>/s);
    expect(of('codex')).toContain('AGENTS.md');
    expect(of('gemini')).toContain('GEMINI.md');
    expect(await sandbox.ok(['render', small, '--target', 'Claude'])).toBe(of('claude-code'));
    for (const text of texts) {
      expect(text).toContain('\n> Half done');
      expect(text).toContain('\n> Next, stated by hand: Finish\n');
    }
  });

  it('stays within the budget and the agent’s limit', async () => {
    for (const budget of [300, 4000, 50_000]) {
      for (const target of ['generic', 'codex']) {
        const text = await sandbox.ok(['render', large, '--target', target, '--budget', String(budget)]);
        expect(Buffer.byteLength(text) / 4, `${target} ${budget}`).toBeLessThanOrEqual(budget);
        if (target !== 'generic') expect(text.length).toBeLessThanOrEqual(10_000);
        expect(text).toContain('Always here');
        if (budget <= 4000) expect(text).toContain('# Left out: ');
      }
    }
    expect(Buffer.byteLength(await sandbox.ok(['render', large]))).toBeLessThanOrEqual(8000);
  });

  it('prints as JSON what it included and left out', async () => {
    const brief = await sandbox.json<{ id: string; text: string; tokens: number; left_out: string[] }>([
      'render',
      large,
    ]);
    expect(Object.keys(brief)).toEqual(['id', 'target', 'budget', 'tokens', 'left_out', 'text']);
    expect(brief).toMatchObject({ id: large, target: 'generic', budget: 2000 });
    expect(brief.tokens).toBe(Math.ceil(Buffer.byteLength(brief.text) / 4));
    expect(brief.left_out.length).toBeGreaterThan(300);
    expect(brief.text).toBe(await sandbox.ok(['render', large]));
    const whole = await sandbox.json<{ left_out: string[] }>(['render', small]);
    expect(whole.left_out).toEqual([]);
  });

  it.each([
    [['--budget', '99'], 64, 'HANDOVER_BUDGET_TOO_SMALL'],
    [['--budget', '0'], 64, 'HANDOVER_USAGE'],
    [['--budget', 'many'], 64, 'HANDOVER_USAGE'],
    [['--target', 'hal'], 64, 'HANDOVER_USAGE'],
    [['19990101'], 66, 'HANDOVER_NOT_FOUND'],
  ])('refuses %j', async (args, status, code) => {
    const result = await sandbox.run(['render', ...args, '--json']);
    expect([result.status, errorCode(result), result.stdout]).toEqual([status, code, '']);
  });
});
