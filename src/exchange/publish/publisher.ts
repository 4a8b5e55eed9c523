export const BACKENDS = ['none', 'git', 's3', 'memoryvault', 'folder'] as const;
export type Backend = (typeof BACKENDS)[number];

/** A file as it leaves: by its path in the project, with forward slashes, and without the secrets that showed in it. */
export interface OutgoingFile {
  path: string;
  bytes: Uint8Array;
}

/** All of a project that is to be published. */
export interface Parcel {
  /** What the project is called where it is published. */
  name: string;
  /** Sorted by path. */
  files: readonly OutgoingFile[];
  /** The configured paths that stand on disk: what is missing below them was deleted. */
  roots: readonly string[];
  /** Paths that stand on disk and do not leave, such as links. */
  leftOut: readonly string[];
}

export interface Change {
  path: string;
  change: 'new' | 'changed' | 'deleted';
  /** How many bytes leave. */
  bytes: number;
}

/** What would leave the machine, as far as is known without asking the other side. */
export interface Plan {
  changes: readonly Change[];
  /** What was committed and has not left yet, a line each. */
  waiting: readonly string[];
  notes: readonly string[];
}

export interface Publication {
  /** `nothing new` is said only when all of it has arrived. */
  outcome: 'published' | 'nothing new';
  changes: readonly Change[];
  commit: string | null;
  notes: readonly string[];
}

/**
 * A way to publish. Both are safe to repeat: after a failure or a kill at any moment, `publish` brings about what an
 * uninterrupted one would have, and does nothing twice that shows. Every failure is a HandoverError; a publication that
 * is returned has arrived.
 */
export interface Publisher {
  readonly backend: Backend;
  /** Where to, for people: never with a secret in it. */
  readonly destination: string;
  /** Changes nothing and contacts nobody. */
  plan(parcel: Parcel): Promise<Plan>;
  publish(parcel: Parcel): Promise<Publication>;
}
