import type { PlanItem } from '../../model/event.ts';
import type { Row } from '../shared/json.ts';
import type { Stamp } from '../shared/make-events.ts';
import { type PendingState, startPending } from '../shared/pending-events.ts';
import { type Queued, queueNothing } from './queue.ts';
import type { Rewound } from './rewound.ts';
import { type SeenRows, seeNothing } from './seen-rows.ts';

interface OpenCall {
  tool: string;
  input: Row;
}

/** All that is remembered of the rows of a conversation: ids, and what is still open. */
export interface ConversationState {
  outbox: PendingState;
  queue: Queued;
  tasks: Map<string, PlanItem>;
  files: Set<string>;
  seen: SeenRows;
  rewound: Rewound;
  calls: Map<string, OpenCall>;
  message: { id: string | null; texts: Set<string> };
  cwd: string | null;
  branch: string | null;
  boundary: Stamp | null;
}

export function startConversation(cwd: string | null, rewound: Rewound): ConversationState {
  return {
    outbox: startPending(),
    queue: queueNothing(),
    tasks: new Map(),
    files: new Set(),
    seen: seeNothing(),
    rewound,
    calls: new Map(),
    message: { id: null, texts: new Set() },
    cwd,
    branch: null,
    boundary: null,
  };
}
