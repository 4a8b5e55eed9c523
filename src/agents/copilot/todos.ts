import type { PlanItem } from '../../model/event.ts';
import { toMessageText } from '../shared/message-text.ts';

type Status = PlanItem['status'];

const STATUSES: Readonly<Record<string, Status>> = {
  pending: 'pending',
  blocked: 'pending',
  in_progress: 'in_progress',
  done: 'completed',
  completed: 'completed',
  cancelled: 'cancelled',
};

/**
 * The to-do list that the agent keeps in a database of the session. The database is not looked at: the statements that
 * filled it are followed, as far as they are of the kinds that the agent is taught to write.
 */
export class Todos {
  readonly #items: Map<string, PlanItem>;

  constructor(items: Map<string, PlanItem>) {
    this.#items = items;
  }

  get items(): PlanItem[] {
    return [...this.#items.values()];
  }

  /** Whether the list changed. */
  apply(sql: string): boolean {
    return splitStatements(sql).reduce((changed, statement) => this.#applyOne(statement) || changed, false);
  }

  #applyOne(tokens: readonly Token[]): boolean {
    const words = tokens.slice(0, 5).map((token) => (token.quoted ? '' : token.text.toLowerCase()));
    const table = words.indexOf('todos');
    if (table === -1) return false;
    if ((words[0] === 'insert' || words[0] === 'replace') && words[table - 1] === 'into') {
      return this.#insert(tokens.slice(table + 1));
    }
    if (words[0] === 'update' && table === 1) return this.#update(tokens.slice(2));
    return words[0] === 'delete' && table === 2 && this.#remove(tokens.slice(3));
  }

  #insert(tokens: readonly Token[]): boolean {
    const at = tokens.findIndex((token) => isWord(token, 'values'));
    const columns = tokens
      .slice(0, at)
      .filter(isValue)
      .map(({ text }) => text.toLowerCase());
    if (at === -1 || columns.length === 0) return false;
    let changed = false;
    for (const values of readTuples(tokens.slice(at + 1))) {
      const value = (name: string): string => values[columns.indexOf(name)] ?? '';
      const text = value('title') || value('description') || value('id');
      if (text === '') continue;
      const detail = value('title') === '' ? '' : value('description');
      this.#items.set(value('id') || text, {
        text: toMessageText(text),
        status: STATUSES[value('status')] ?? 'pending',
        ...(detail === '' ? {} : { detail: toMessageText(detail) }),
      });
      changed = true;
    }
    return changed;
  }

  #update(tokens: readonly Token[]): boolean {
    const at = tokens.findIndex((token) => isWord(token, 'status'));
    const status = STATUSES[tokens[at + 2]?.text ?? ''];
    if (at === -1 || tokens[at + 1]?.text !== '=' || status === undefined) return false;
    const chosen = this.#choose(tokens);
    for (const [id, item] of chosen) this.#items.set(id, { ...item, status });
    return chosen.length > 0;
  }

  #remove(tokens: readonly Token[]): boolean {
    const chosen = this.#choose(tokens);
    for (const [id] of chosen) this.#items.delete(id);
    return chosen.length > 0;
  }

  /** By ids, by status, or all where nothing is asked for. */
  #choose(tokens: readonly Token[]): [string, PlanItem][] {
    const all = [...this.#items];
    const where = tokens.findIndex((token) => isWord(token, 'where'));
    if (where === -1) return all;
    const condition = tokens.slice(where + 1);
    const values = new Set(condition.filter((token) => token.quoted).map(({ text }) => text));
    if (isWord(condition[0], 'id')) return all.filter(([id]) => values.has(id));
    if (!isWord(condition[0], 'status')) return [];
    return all.filter(([, { status }]) => [...values].some((value) => STATUSES[value] === status));
  }
}

interface Token {
  text: string;
  quoted: boolean;
}

const TOKEN = /'((?:[^']|'')*)'|"((?:[^"]|"")*)"|--[^\n]*|[\w.]+|[(),;=]/g;
const MAX_SQL = 200_000;

function splitStatements(sql: string): Token[][] {
  const statements: Token[][] = [[]];
  for (const [text, single, double] of sql.slice(0, MAX_SQL).matchAll(TOKEN)) {
    if (text === ';') statements.push([]);
    else if (single !== undefined)
      statements.at(-1)?.push({ text: single.replaceAll("''", "'"), quoted: true });
    else if (double !== undefined) statements.at(-1)?.push({ text: double, quoted: true });
    else if (!text.startsWith('--')) statements.at(-1)?.push({ text, quoted: false });
  }
  return statements;
}

function isWord(token: Token | undefined, word: string): boolean {
  return token !== undefined && !token.quoted && token.text.toLowerCase() === word;
}

function isValue({ text, quoted }: Token): boolean {
  return quoted || !/^[(),;=]$/.test(text);
}

function* readTuples(tokens: readonly Token[]): Generator<string[]> {
  let values: string[] | null = null;
  for (const token of tokens) {
    if (!token.quoted && token.text === '(') values = [];
    else if (!token.quoted && token.text === ')') {
      if (values !== null) yield values;
      values = null;
    } else if (isValue(token)) values?.push(token.text);
  }
}
