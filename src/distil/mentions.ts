import type { Fact } from '../model/fact.ts';
import type { Account, Said } from './account.ts';
import { draftFact } from './draft-fact.ts';
import type { Mentions, Voice } from './ledger.ts';
import type { Valuation } from './value.ts';
import { weighNames } from './weigh.ts';

const MAX_TERMS = 40;
const AROUND = 80;
const WIDEST = 170;

/** For each error name, reference and outstanding term: the line in which somebody last spoke of it. */
export function findMentionFacts(account: Account, valuation: Valuation): Fact[] {
  const { names } = account.ledger;
  const terms = [...valuation.values.qualified]
    .sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1))
    .slice(0, MAX_TERMS)
    .map(([name]) => name);
  const spoken = (mentions: Mentions): boolean => SPOKEN.some((voice) => mentions.by.has(voice));
  const wanted = [
    ...[...names.error]
      .filter(([, mentions]) => spoken(mentions))
      .map(([name]) => ({ kind: 'error' as const, name }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    ...[...names.reference]
      .filter(([, mentions]) => spoken(mentions))
      .map(([name]) => ({ kind: 'reference' as const, name }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    ...terms.map((name) => ({ kind: 'reference' as const, name })),
  ];
  const facts = wanted.map(({ kind, name }) => {
    const found = findLine(account, name);
    if (found === null || found.text.length <= name.length + 3) return null;
    return draftFact('reference', {
      text: found.text,
      line: found.line,
      trust: 'quoted',
      origin: found.origin,
      weight: { points: 0, age: account.calls - found.call, names: weighNames(found.text, valuation) },
      detail: { about: name, what: kind },
    });
  });
  return facts.filter((fact) => fact !== null);
}

const SPOKEN: readonly Voice[] = ['user', 'agent', 'summary', 'task', 'plan', 'command', 'added'];

interface FoundLine extends Said {
  origin: 'human' | 'agent' | 'tool';
}

/** The newest line of prose with the name, else of an output. */
function findLine(account: Account, name: string): FoundLine | null {
  const prose: FoundLine[] = [
    ...account.prompts.map((said) => ({ ...said, origin: 'human' as const })),
    ...account.replies.map((said) => ({ ...said, origin: 'agent' as const })),
  ];
  const second: FoundLine[] = [...account.summaries, ...account.proposals].map((said) => ({
    ...said,
    origin: 'agent' as const,
  }));
  const outputs: FoundLine[] = account.results.map(({ call, text }) => ({
    call,
    text,
    line: 0,
    origin: 'tool' as const,
  }));
  for (const group of [prose, second, outputs]) {
    const found = group
      .filter((said) => findWhole(said.text, name) !== -1)
      .reduce<FoundLine | null>(
        (best, said) => (best === null || said.call >= best.call ? said : best),
        null,
      );
    if (found !== null) return { ...found, text: cutAround(found.text, name) };
  }
  return null;
}

function cutAround(text: string, name: string): string {
  const at = findWhole(text, name);
  let start = text.lastIndexOf('\n', at) + 1;
  let end = text.indexOf('\n', at);
  if (end === -1) end = text.length;
  if (end - start > WIDEST) {
    const from = Math.max(start, at - 70);
    start = from === start ? start : text.indexOf(' ', from) + 1 || from;
    end = Math.min(end, at + name.length + AROUND);
    const space = text.lastIndexOf(' ', end);
    if (space > at + name.length) end = space;
  }
  return text
    .slice(start, end)
    .replace(/\s+/g, ' ')
    .replace(/^[\s\-*•]+/, '')
    .trim();
}

/** Where the name stands by itself, not as a part of a longer one; -1 when nowhere. */
function findWhole(text: string, name: string): number {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const before = at === 0 ? ' ' : text.charAt(at - 1);
    const after = text.charAt(at + name.length);
    if (!/\w/.test(before) && !/\w/.test(after)) return at;
  }
  return -1;
}
