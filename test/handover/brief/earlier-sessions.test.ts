import { describe, expect, it } from 'vitest';
import { compileBrief } from '../../../src/handover/brief/compile.ts';
import type { Fact } from '../../../src/model/fact.ts';
import { HUMAN, makeDraft, makeFact, sealDraft } from '../../support/facts.ts';
import { readSection, requireReader } from '../../support/rendered.ts';

function sectionOf(heading: string, ...facts: Fact[]): string[] {
  return readSection(compileBrief(sealDraft(makeDraft(facts)), requireReader('generic')).text, heading);
}

describe('the section about the user', () => {
  it('has the rules of earlier sessions', () => {
    const rule = makeFact('constraint', 'Never retry on 404', { ...HUMAN, sources: [{ session: 's-0', line: 7 }] });
    expect(sectionOf('The user', rule)).toEqual(['- "Never retry on 404" (of an earlier session)']);
  });

  it('has what was asked in earlier sessions, with its list, the newest first, and the current request before it', () => {
    const ask = (text: string, session: string): Fact =>
      makeFact('goal', text, { ...HUMAN, sources: [{ session, line: 7 }], detail: { of: '2026-01-30' } });
    const list = 'Move the till.\n- log no contents\n- use streams';
    const now = makeFact('goal', 'Go on with part 2', { ...HUMAN, detail: { role: 'current', message: 1 } });
    const note = makeFact('note', 'pnpm is in use here', { ...HUMAN, sources: [{ session: 's-8', line: 9 }] });
    expect(sectionOf('The user', now, note, ask('Sort the cart', 's-8'), ask(list, 's-7'))).toEqual([
      'Now: "Go on with part 2"',
      '- "Sort the cart" (of an earlier session, 2026-01-30)',
      '- "Move the till. · log no contents · use streams" (of an earlier session, 2026-01-30)',
      '- "pnpm is in use here" (of an earlier session)',
    ]);
  });

  it('leaves most of its room to the current request, however much was asked before', () => {
    const old = Array.from({ length: 40 }, (_, at) =>
      makeFact('goal', `${at} ${'Sort the cart. '.repeat(200)}`, { ...HUMAN, sources: [{ session: 's-8', line: at }] }),
    );
    const text = 'Go on with the second part of it. '.repeat(20).trim();
    const now = makeFact('goal', text, { ...HUMAN, detail: { role: 'current', message: 1 } });
    expect(sectionOf('The user', now, ...old)[0]).toBe(`Now: "${text}"`);
  });
});

describe('what was settled in an earlier session', () => {
  it('comes after what was settled since', () => {
    const settled = (text: string, session?: string): Fact =>
      makeFact('decision', text, {
        ...HUMAN,
        sources: [{ ...(session === undefined ? {} : { session }), line: 7 }],
        detail: { role: 'answer' },
      });
    const facts = [
      ...['A? → 1', 'B? → 2'].map((text) => settled(text)),
      ...['C? → 3', 'D? → 4'].map((text) => settled(text, 's-8')),
      settled('E? → 5', 's-7'),
    ];
    const answers = sectionOf('What was settled', ...facts).map((line) => /→ (\d)/.exec(line)?.[1]);
    expect(answers).toEqual(['2', '1', '4', '3', '5']);
  });

  it('is still shown as the user’s', () => {
    const earlier = { ...HUMAN, sources: [{ session: 's-0', line: 7 }] };
    expect(
      sectionOf(
        'What was settled',
        makeFact('decision', '"2" = 2. Wait longer each time', earlier),
        makeFact('decision', 'How often? → Five times', earlier),
      ),
    ).toEqual([
      'Asked "How often?" → Five times (of an earlier session)',
      'The user chose: "2" = 2. Wait longer each time (of an earlier session)',
    ]);
  });
});
