import type { Handover } from '../../model/handover.ts';
import type { TeamCatalog } from './postgres/search.ts';
import type { Register, Writer } from './register.ts';

export type { Writer };

/** A writer's pages of one project. */
export interface LogName {
  writer: Writer;
  /** The project's id. */
  project: string;
}

/** `digest`: of the newest page, where the remote knows it without reading the page. */
export type LogHead = LogName & { newest: number; digest?: string };

export interface StoredPage {
  number: number;
  bytes: Buffer;
}

export interface OutgoingBody {
  /** `<id of the handover>-<32 hexadecimal digits of the digest of the bytes>`. */
  name: string;
  project: string;
  bytes: Buffer;
  /** For a remote that can search; null where the bytes are encrypted. */
  handover: Handover | null;
}

/** One check of `remote test` and `doctor`. */
export interface RemoteCheck {
  name: string;
  isGood: boolean;
  /** What was found; if it is bad, also what to do about it. */
  found: string;
}

/**
 * A place that several stores share: logs of signed pages, and the bodies that pages name. It is not trusted: callers check its
 * answers, and an answer over a limit is an error. Nothing is ever overwritten, and every call is safe to repeat. Where it cannot
 * be reached, every function throws HANDOVER_REMOTE_UNREACHABLE.
 */
export interface Remote {
  /** For people: without credentials. */
  readonly address: string;
  /** The only projects that this user may write; null for all. An error where it is none. Only of a remote that keeps them apart. */
  listPermitted?(): Promise<string[] | null>;
  /** Every log that this user may see; more than a million is an error. */
  listLogs(): Promise<LogHead[]>;
  /** At most `limit` pages after number `after`, in order. May have gaps where the remote lost pages. */
  readPages(log: LogName, options: { after: number; limit: number }): Promise<StoredPage[]>;
  /** The commit point of a sync. False, with nothing changed, when a page has that number already. */
  appendPage(log: LogName, page: StoredPage): Promise<boolean>;
  /** Durable when it returns. Existing bodies stay as they are. */
  writeBodies(bodies: readonly OutgoingBody[]): Promise<void>;
  /** Those of the named bodies that exist, in any order. */
  readBodies(project: string, names: readonly string[]): AsyncIterable<{ name: string; bytes: Buffer }>;
  /** As far as the remote can. Missing bodies are no error. */
  deleteBodies(project: string, names: readonly string[]): Promise<void>;
  /** Who holds which task; or why the remote cannot guarantee a single holder. */
  openRegister(): Register | { why: string };
  /** Never throws for what it checks: being unreachable is a failed check. */
  check(): Promise<RemoteCheck[]>;
  close(): Promise<void>;
  /** Only of a remote that can list and search by itself. */
  readonly catalog?: TeamCatalog;
}
