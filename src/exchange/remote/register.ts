/** Who wrote a log: 32 hexadecimal digits of the digest of a signing key. */
export type Writer = string;

export type CustodyState = 'offered' | 'held' | 'released' | 'done';

/** The state of a task. The number grows with every change, so a holder with an old one is late. */
export interface Custody {
  /** The id of a handover. */
  task: string;
  /** The project's id. */
  project: string;
  number: number;
  state: CustodyState;
  /** Who offered it, for `offered`; else who holds or held it. */
  holder: { writer: Writer; name: string };
  /** Whom it is offered to, by the name of a signer; null for anybody. */
  to: string | null;
  /** A fleet picks its tasks by it. */
  label: string | null;
  /** When the lease ends; null unless held. */
  until: string | null;
  at: string;
  /** When it was first offered: the oldest is taken first. */
  offered_at: string;
}

export interface TaskFilter {
  project?: string | undefined;
  label?: string | undefined;
  /** The signer who asks: tasks that are offered to others are left out. */
  for?: string;
}

/** Numbered states of tasks, each created only if its number is free. Its answers are as untrusted as those of the remote. */
export interface Register {
  /** The newest state. Null for a task that nobody offered or took. */
  read(task: string): Promise<Custody | null>;
  /** False, with nothing changed, unless `custody.number` is one more than the newest (1 for the first). */
  append(custody: Custody): Promise<boolean>;
  /** The newest states of the tasks that could be taken now, in the order in which they were offered. */
  listOpen(filter: TaskFilter, limit: number): Promise<Custody[]>;
  /** Takes the oldest open task in one step; only of remotes that can do better than `listOpen` and `append`. */
  takeNext?(filter: TaskFilter, next: Pick<Custody, 'holder'> & { leaseMs: number }): Promise<Custody | null>;
  /** The clock that leases are judged by, in milliseconds, and how far clocks may differ. */
  now(): Promise<{ now: number; graceMs: number }>;
}
