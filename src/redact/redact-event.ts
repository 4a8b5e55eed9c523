import type { Action, Event, PlanItem } from '../model/event.ts';
import type { Redactor } from './redactor.ts';

/** Redacts the texts of an event. Ids, times and folders stay. */
export function redactEvent(event: Event, redactor: Redactor): Event {
  const redact = (text: string): string => redactor.redactText(text);
  switch (event.type) {
    case 'prompt':
      return { ...event, text: redactor.redactText(event.text, { byHuman: true }) };
    case 'reply':
    case 'injected':
    case 'limit':
      return { ...event, text: redact(event.text) };
    case 'call':
      return { ...event, action: redactAction(event.action, redact) };
    case 'result':
      return { ...event, output: redact(event.output) };
    case 'plan':
      return { ...event, items: event.items.map((item) => redactItem(item, redact)) };
    case 'compaction':
      return event.summary === null ? event : { ...event, summary: redact(event.summary) };
    case 'interrupted':
      return event;
  }
}

function redactItem({ detail, ...item }: PlanItem, redact: (text: string) => string): PlanItem {
  const more = detail === undefined ? {} : { detail: redact(detail) };
  return { ...item, text: redact(item.text), ...more };
}

function redactAction(action: Action, redact: (text: string) => string): Action {
  switch (action.kind) {
    case 'edit':
      return {
        ...action,
        edits: action.edits.map(({ to, ...edit }) => ({
          ...edit,
          path: redact(edit.path),
          before: redact(edit.before),
          after: redact(edit.after),
          ...(to === undefined ? {} : { to: redact(to) }),
        })),
      };
    case 'read':
      return { ...action, path: redact(action.path) };
    case 'command':
      return { ...action, command: redact(action.command) };
    case 'search':
      return { ...action, pattern: redact(action.pattern) };
    case 'fetch':
      return { ...action, url: redact(action.url) };
    case 'delegate':
      return { ...action, task: redact(action.task) };
    case 'ask':
      return { ...action, question: redact(action.question) };
    case 'propose':
      return { ...action, text: redact(action.text) };
    case 'other':
      return { ...action, texts: action.texts.map(redact) };
  }
}
