import type { RemoteCheck } from './remote.ts';

/** Paths have forward slashes; their parts have letters, digits, dots, underscores and dashes, and begin with no dot. */
export interface Blob {
  path: string;
  bytes: Uint8Array;
}

/**
 * Blobs under paths, in a place that several machines share. A blob is created once, never changed, and perhaps removed.
 * Neither the place nor its writers are trusted. Where it cannot be reached, every function throws HANDOVER_REMOTE_UNREACHABLE.
 */
export interface BlobStore {
  /** For people: without credentials. */
  readonly address: string;
  /** False, with nothing changed, when the path is taken: of several callers exactly one gets true. Durable when it returns. */
  create(path: string, bytes: Uint8Array): Promise<boolean>;
  /** Existing blobs stay as they are. All are durable when it returns; after a failure, any of them may exist. */
  createAll(blobs: readonly Blob[]): Promise<void>;
  /** Null when there is none; an error when it is larger. May be as old as the last `list` or failed `create`. */
  read(path: string, maxBytes: number): Promise<Buffer | null>;
  /** The current paths of all blobs below a folder (`custody/`), sorted; more than `most` is an error. */
  list(folder: string, most?: number): Promise<string[]>;
  /** Missing blobs are no error. */
  remove(paths: readonly string[]): Promise<void>;
  /** Never throws for what it checks. */
  check(): Promise<RemoteCheck[]>;
  close(): Promise<void>;
}
