import type { PlanItem } from '../../model/event.ts';
import { getRow, getRows, getText, type Row, toRows } from '../shared/json.ts';
import { toMessageText } from '../shared/message-text.ts';

const PLAN_TOOLS = new Set(['TodoWrite', 'TaskCreate', 'TaskUpdate', 'TaskList', 'TaskGet']);

export function isPlanTool(tool: string): boolean {
  return PLAN_TOOLS.has(tool);
}

/** The list that `TodoWrite` was given: it is the whole plan each time. */
export function readTodos(input: Row): PlanItem[] {
  return getRows(input, 'todos').flatMap((todo) => {
    const text = getText(todo, 'content') ?? getText(todo, 'activeForm');
    return text === null ? [] : [{ text: toMessageText(text), status: toStatus(todo.status) }];
  });
}

function toStatus(status: unknown): PlanItem['status'] {
  return status === 'in_progress' || status === 'completed' || status === 'cancelled' ? status : 'pending';
}

const MAX_TASKS = 1000;

/** The plan that the task tools build up piece by piece. A task is known by the number that its creation gave it. */
export class TaskPlan {
  readonly #tasks: Map<string, PlanItem>;

  constructor(tasks: Map<string, PlanItem>) {
    this.#tasks = tasks;
  }

  /** What a finished call to a task tool changed: the whole plan, or null when it is as it was. */
  apply(tool: string, input: Row, outcome: { text: string; data: Row }): PlanItem[] | null {
    const { text, data } = outcome;
    if (tool === 'TaskCreate')
      return this.#create(input, getText(getRow(data, 'task'), 'id') ?? findNumber(text));
    if (tool === 'TaskUpdate') return this.#update(input, data.success !== false);
    if (tool === 'TaskList') return this.meet(data.tasks);
    return tool === 'TaskGet' ? this.meet([data.task]) : null;
  }

  /** Takes over tasks as the agent lists them: some may have been created before the transcript begins. */
  meet(listed: unknown): PlanItem[] | null {
    let changed = false;
    for (const task of toRows(listed)) {
      const id = getText(task, 'id');
      const subject = getText(task, 'subject');
      if (id === null || subject === null) continue;
      const known = this.#tasks.get(id);
      const status = toStatus(task.status);
      if (known?.status === status && known.text === subject) continue;
      this.#set(id, { ...known, text: toMessageText(subject), status });
      changed = true;
    }
    return changed ? this.#list() : null;
  }

  #create(input: Row, id: string | null): PlanItem[] | null {
    const subject = getText(input, 'subject') ?? getText(input, 'description');
    if (id === null || subject === null) return null;
    const detail = getText(input, 'description');
    const more = detail === null || detail === subject ? {} : { detail: toMessageText(detail) };
    this.#set(id, { text: toMessageText(subject), status: 'pending', ...more });
    return this.#list();
  }

  #update(input: Row, done: boolean): PlanItem[] | null {
    const id = getText(input, 'taskId') ?? String(input.taskId);
    const known = this.#tasks.get(id);
    const text = getText(input, 'subject') ?? known?.text;
    if (!done || text === undefined) return null;
    const detail = getText(input, 'description') ?? known?.detail;
    const status = getText(input, 'status');
    if (status === 'deleted') this.#tasks.delete(id);
    else {
      this.#set(id, {
        text: toMessageText(text),
        status: status === null ? (known?.status ?? 'pending') : toStatus(status),
        ...(detail === undefined ? {} : { detail: toMessageText(detail) }),
      });
    }
    return this.#list();
  }

  #set(id: string, item: PlanItem): void {
    if (this.#tasks.has(id) || this.#tasks.size < MAX_TASKS) this.#tasks.set(id, item);
  }

  #list(): PlanItem[] {
    return [...this.#tasks].map(([id, item]) => ({ ...item, id: id.toWellFormed() }));
  }
}

function findNumber(text: string): string | null {
  return /#(\d{1,9})\b/.exec(text)?.[1] ?? null;
}
