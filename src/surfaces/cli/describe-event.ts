import type { Action, Event } from '../../model/event.ts';
import { cleanLine, cutAtWord } from '../../model/text.ts';

const MAX_BYTES = 240;

/** An event on one line, shortened. */
export function describeEvent(event: Event): string {
  return cutAtWord(cleanLine(tell(event)), MAX_BYTES);
}

function tell(event: Event): string {
  switch (event.type) {
    case 'prompt':
    case 'reply':
    case 'injected':
    case 'limit':
      return event.text;
    case 'call':
      return tellAction(event.tool, event.action);
    case 'result':
      return `${tellOutcome(event.ok, event.exit)}: ${event.output}`;
    case 'plan':
      return event.items.map((item) => `[${item.status}] ${item.text}`).join('; ');
    case 'compaction':
      return event.summary ?? '(without a summary)';
  }
}

function tellOutcome(ok: boolean | null, exit: number | null): string {
  if (exit !== null) return `exit ${exit}`;
  if (ok === null) return 'ended';
  return ok ? 'ok' : 'failed';
}

function tellAction(tool: string, action: Action): string {
  switch (action.kind) {
    case 'edit':
      return action.edits
        .map((edit) => `${edit.change} ${edit.path}${edit.to === undefined ? '' : ` -> ${edit.to}`}`)
        .join(', ');
    case 'read':
      return `read ${action.path}`;
    case 'command':
      return `${action.background ? 'started' : 'ran'} ${action.command}`;
    case 'search':
      return `searched ${action.pattern}${action.path === null ? '' : ` in ${action.path}`}`;
    case 'fetch':
      return `fetched ${action.url}`;
    case 'delegate':
      return `delegated ${action.task}`;
    case 'ask':
      return `asked ${action.question}`;
    case 'propose':
      return `proposed ${action.text}`;
    case 'other':
      return [tool, ...action.texts].join(' ');
  }
}
