import type { Action, PlanItem } from '../../model/event.ts';
import { makeOtherAction, makePatchAction, makeTextAction } from '../shared/actions.ts';
import { resolveFilePath } from '../shared/files.ts';
import { asRow, getCleanText, getText, type Row } from '../shared/json.ts';
import { toMessageText } from '../shared/message-text.ts';

/** What a tool call does. `input` is an object, or the text of a tool that takes free text. */
export function toAction(tool: string, input: unknown, cwd: string | null): Action {
  const fields = asRow(input) ?? {};
  if (tool === 'apply_patch') {
    const patch = typeof input === 'string' ? input : getText(fields, 'input', 'patch');
    return makePatchAction(patch, cwd) ?? makeOtherAction(input);
  }
  const given = getText(fields, 'path');
  const path = given === null ? null : resolveFilePath(given, cwd);
  return toFileAction(tool, fields, path) ?? toTextAction(tool, fields, path) ?? makeOtherAction(input);
}

function toFileAction(tool: string, fields: Row, path: string | null): Action | null {
  const command = tool === 'str_replace_editor' ? getText(fields, 'command') : tool;
  if (path === null || command === null) return null;
  if (command === 'view') return { kind: 'read', path };
  if (command === 'create') {
    const after = getCleanText(fields, 'file_text', 'content');
    return { kind: 'edit', edits: [{ path, change: 'created', before: '', after }] };
  }
  if (tool !== 'edit' && tool !== 'str_replace' && tool !== 'str_replace_editor') return null;
  const before = getCleanText(fields, 'old_str');
  const after = getCleanText(fields, 'new_str', 'insert_text');
  return { kind: 'edit', edits: [{ path, change: 'edited', before, after }] };
}

function toTextAction(tool: string, fields: Row, path: string | null): Action | null {
  switch (tool) {
    case 'bash':
    case 'powershell':
    case 'shell': {
      const background = fields.mode === 'async' || fields.mode === 'background' || fields.detach === true;
      return makeTextAction(getText(fields, 'command'), (command) => ({ kind: 'command', command, background }));
    }
    case 'glob':
    case 'rg':
    case 'grep':
      return makeTextAction(getText(fields, 'pattern'), (pattern) => ({ kind: 'search', pattern, path }));
    case 'web_search':
      return makeTextAction(getText(fields, 'query'), (pattern) => ({ kind: 'search', pattern, path: null }));
    case 'web_fetch':
    case 'fetch':
      return makeTextAction(getText(fields, 'url'), (url) => ({ kind: 'fetch', url }));
    case 'task':
      return makeTextAction(getText(fields, 'prompt', 'description'), (task) => ({ kind: 'delegate', task }));
    case 'ask_user':
      return makeTextAction(getText(fields, 'question'), (question) => ({ kind: 'ask', question }));
    case 'exit_plan_mode':
      return makeTextAction(getText(fields, 'plan', 'summary'), (text) => ({ kind: 'propose', text }));
    default:
      return null;
  }
}

const STATUSES: Readonly<Record<string, PlanItem['status']>> = {
  pending: 'pending',
  blocked: 'pending',
  in_progress: 'in_progress',
  done: 'completed',
  completed: 'completed',
  cancelled: 'cancelled',
};

/** The agent's to-do list, rebuilt from SQL of the kinds that it is taught to write; its database is not read. */
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
    const names = tokens.slice(0, at).filter(isValue);
    const columns = names.map(({ text }) => text.toLowerCase());
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

  /** The items that a condition on ids or on the status selects; all without a condition. */
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

type Token = { text: string; quoted: boolean };

const TOKEN = /'((?:[^']|'')*)'|"((?:[^"]|"")*)"|--[^\n]*|[\w.]+|[(),;=]/g;
const MAX_SQL = 200_000;

function splitStatements(sql: string): Token[][] {
  const statements: Token[][] = [[]];
  for (const [text, single, double] of sql.slice(0, MAX_SQL).matchAll(TOKEN)) {
    if (text === ';') statements.push([]);
    else if (single !== undefined) statements.at(-1)?.push({ text: single.replaceAll("''", "'"), quoted: true });
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
