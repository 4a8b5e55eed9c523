import { join } from 'node:path';
import * as v from 'valibot';
import { catchIf, isFailure } from '../../errors.ts';
import { canonicalize, compareCodeUnits } from '../../model/hash.ts';
import { removeFile, writeFileDurably } from '../../platform/durable-file.ts';
import { readHead } from '../../platform/external-file.ts';
import { ensurePrivateFolder } from '../../platform/folders.ts';
import { REMOTES, type Store } from '../../store/store.ts';
import { nameLog } from './page.ts';

const SCHEMA = 'remote-state/1';
const MAX_BYTES = 64 * 1024 * 1024;

const Cursor = v.strictObject({ writer: v.string(), project: v.string(), number: v.number(), digest: v.string() });
/** The last page of a log that was read. */
export type Cursor = v.InferOutput<typeof Cursor>;

const Waiting = v.strictObject({
  writer: v.string(),
  /** The name that the writer claims. */
  name: v.string(),
  key: v.string(),
  fingerprint: v.string(),
  why: v.picklist(['unknown', 'revoked', 'look-alike']),
  pages: v.number(),
});
/** A signer whose pages are not read until the user trusts the key. */
export type Waiting = v.InferOutput<typeof Waiting>;

const Missing = v.strictObject({ writer: v.string(), project: v.string(), name: v.string(), id: v.string() });
/** A handover that a page names and whose body is missing or damaged. */
export type Missing = v.InferOutput<typeof Missing>;

const Hole = v.strictObject({ writer: v.string(), project: v.string(), number: v.number() });
export type Hole = v.InferOutput<typeof Hole>;

const Bodies = v.strictObject({ project: v.string(), names: v.array(v.string()) });

const StateText = v.pipe(
  v.string(),
  v.parseJson(),
  v.strictObject({
    schema: v.literal(SCHEMA),
    address: v.string(),
    /** A digest of what decides which pages are read: when it changes, all are read again. */
    basis: v.string(),
    /** A digest of what decides what is sent: when it changes, everything is compared again. */
    filter: v.string(),
    /** The only projects that the remote lets this store write, as it said last; null for all. */
    permitted: v.optional(v.nullable(v.array(v.string())), null),
    logs: v.array(Cursor),
    /** How far each file of the journal was sent. */
    journal: v.record(v.string(), v.number()),
    /** Bodies being written: after a kill, perhaps no page names them. */
    sending: v.array(Bodies),
    /** Bodies of forgotten handovers, being deleted. */
    removing: v.array(Bodies),
    missing: v.array(Missing),
    /** Pages that are missing or damaged. */
    holes: v.array(Hole),
    waiting: v.array(Waiting),
    /** How many pages of each writer are encrypted to other keys. */
    sealed: v.optional(v.record(v.string(), v.number()), {}),
    last_sync: v.nullable(v.string()),
    /** When the remote was last found to be behind an earlier sync. */
    rewound: v.nullable(v.string()),
  }),
);
export type RemoteState = Omit<v.InferOutput<typeof StateText>, 'schema' | 'logs'> & { logs: Map<string, Cursor> };

export function freshState(from: Pick<RemoteState, 'address' | 'basis' | 'filter'>): RemoteState {
  const nothing = { logs: new Map(), journal: {}, sending: [], removing: [], missing: [], holes: [], waiting: [] };
  return { ...from, ...nothing, permitted: null, sealed: {}, last_sync: null, rewound: null };
}

/** Null when there is none that can be read: then everything is compared, and nothing is lost. */
export function readRemoteState(store: Store, name: string): RemoteState | null {
  const head = catchIf(isFailure, null, () => readHead(pathOfState(store, name), MAX_BYTES));
  if (head === null || head.size > MAX_BYTES) return null;
  const { success, output } = v.safeParse(StateText, head.bytes.toString('utf8'));
  if (!success) return null;
  const { schema: _, logs, ...state } = output;
  return { ...state, logs: new Map(logs.map((cursor) => [nameLog(cursor), cursor])) };
}

export function writeRemoteState(store: Store, name: string, state: RemoteState): void {
  ensurePrivateFolder(store.root, REMOTES);
  const logs = [...state.logs.values()].sort((a, b) => compareCodeUnits(nameLog(a), nameLog(b)));
  writeFileDurably(pathOfState(store, name), `${canonicalize({ schema: SCHEMA, ...state, logs })}\n`);
}

export function removeRemoteState(store: Store, name: string): void {
  removeFile(pathOfState(store, name));
}

function pathOfState(store: Store, name: string): string {
  return join(store.root, REMOTES, `${name}.json`);
}
