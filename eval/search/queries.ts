import { readFileSync } from 'node:fs';
import { FACT_KINDS, type FactKind } from '../../src/model/fact.ts';

/** A fact of an invented project. */
export interface ToldFact {
  project: string;
  kind: FactKind;
  text: string;
}

/** What somebody types who looks for a fact, and which sort of typing it is. */
export interface Query {
  sort: string;
  text: string;
  /** The place of the fact in the list of all. */
  fact: number;
}

export interface Labelled {
  facts: ToldFact[];
  queries: Query[];
}

/** Reads the labelled set: `# project`, below it `kind | text`, below each `  sort: query`. */
export function readLabelled(path: string): Labelled {
  const labelled: Labelled = { facts: [], queries: [] };
  let project = '';
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const [, name] = /^# (\w+)$/.exec(line) ?? [];
    const [, kindWord, told] = /^(\w+) \| (.+)$/.exec(line) ?? [];
    const [, sort, text] = /^ {2}(\w+): (.+)$/.exec(line) ?? [];
    const kind = FACT_KINDS.find((known) => known === kindWord);
    if (name !== undefined) project = name;
    else if (kind !== undefined && told !== undefined) labelled.facts.push({ project, kind, text: told });
    else if (sort !== undefined && text !== undefined)
      labelled.queries.push({ sort, text, fact: labelled.facts.length - 1 });
    else if (line !== '') throw new Error(`not understood: ${line}`);
  }
  return labelled;
}
