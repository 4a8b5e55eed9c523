import type { Fact } from '../model/fact.ts';
import type { Account, Said } from './account.ts';
import { draftFact } from './draft-fact.ts';
import type { NameClass } from './ledger.ts';
import { dropEmphasis } from './prose.ts';
import { isChatter, printSentence, splitSentences } from './sentences.ts';
import type { Valuation } from './value.ts';
import { weighNames } from './weigh.ts';

const MAX_TERMS = 40;

/** For each error name, reference and outstanding term: the sentence in which somebody last spoke of it. */
export function findMentionFacts(account: Account, valuation: Valuation): Fact[] {
  const spoken = collectSpoken(account);
  const wanted = [
    ...listNames(valuation, 'error'),
    ...listNames(valuation, 'reference'),
    ...listNames(valuation, 'qualified').slice(0, MAX_TERMS),
  ];
  const facts = wanted.map((name) => {
    const found = findSpoken(spoken, name);
    if (found === null) return null;
    return draftFact('reference', {
      text: found.text,
      line: found.line,
      trust: 'quoted',
      origin: found.origin,
      weight: { points: 0, age: account.calls - found.call, names: weighNames(found.text, valuation) },
      detail: { about: name },
    });
  });
  return facts.filter((fact) => fact !== null);
}

/** The names of a class, the most valuable first. */
function listNames(valuation: Valuation, kind: NameClass): string[] {
  return [...valuation.values[kind]]
    .sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1))
    .map(([name]) => name);
}

interface Spoken extends Said {
  origin: 'human' | 'agent' | 'tool';
  /** Without emphasis, as sentences are. */
  plain: string;
  /** Split up only when a name is looked for that stands there. */
  sentences: readonly string[] | null;
}

/** Everything that was said, newest first: by the human and the agent, then in summaries and plans, then by sub-agents. */
function collectSpoken(account: Account): Spoken[] {
  const reports = account.results
    .filter((result) => result.voice === 'report')
    .map(({ call, text }) => ({ call, text, line: 0 }));
  const groups: [Spoken['origin'], Said[]][][] = [
    [
      ['human', account.prompts],
      ['agent', account.replies],
    ],
    [['agent', [...account.summaries, ...account.proposals]]],
    [['tool', reports]],
  ];
  return groups.flatMap((group) =>
    group
      .flatMap(([origin, items]) =>
        items.map((said) => ({ ...said, origin, plain: dropEmphasis(said.text), sentences: null })),
      )
      .sort((a, b) => b.call - a.call || b.line - a.line),
  );
}

/** The first sentence with the name. */
function findSpoken(spoken: readonly Spoken[], name: string): Spoken | null {
  for (const said of spoken) {
    if (!said.plain.includes(name)) continue;
    said.sentences ??= splitSentences(said.text)
      .map(printSentence)
      .filter((text) => !isChatter(text));
    const text = said.sentences.find((sentence) => findWhole(sentence, name) !== -1);
    if (text !== undefined) return { ...said, text };
  }
  return null;
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
