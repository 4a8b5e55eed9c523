import { type ErrorCode, HandoverError, isErrno } from '../../../errors.ts';

/** The SQLSTATE of an error that the server reported; null for any other. */
export function stateOf(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || !('severity' in error)) return null;
  return typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code) ? error.code : null;
}

/** Serialization failures, deadlocks, and errors of engines when two clients create the same thing at once. */
const CONFLICTS = ['40001', '40P01', '23505', '42P06', '42P07', '42710', '42723', 'XX000'];

/** Whether the transaction was rolled back because of another one. */
export function isConflict(error: unknown): boolean {
  const state = stateOf(error);
  return state !== null && CONFLICTS.includes(state);
}

/** Whether the connection was lost, so that it is unknown what the server did. */
export function isLost(error: unknown): boolean {
  if (error instanceof HandoverError || !(error instanceof Error)) return false;
  const state = stateOf(error);
  return state === null ? isErrno(error) || !(error instanceof TypeError) : /^(?:08|57P0)/.test(state);
}

type Explanation = readonly [code: ErrorCode, what: string, hint: string];

const REFUSED = 'HANDOVER_REMOTE_REFUSED';
const LOGIN: Explanation = [
  REFUSED,
  'does not let this user in',
  'Check user and password: PGUSER, PGPASSFILE, PGSERVICE, and the pg_hba.conf of the server.',
];
const FULL: Explanation = [REFUSED, 'has no room left', 'Nothing was written. Ask whoever runs the server.'];

/** By SQLSTATE, or its first two characters. */
const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  28: LOGIN,
  '3D000': [REFUSED, 'has no such database', 'Check the name in the address; create it with createdb.'],
  '3F000': [REFUSED, 'has no such schema', 'Its owner sets it up: handover remote test NAME'],
  42501: [
    REFUSED,
    'does not permit this',
    "The owner of the schema lets a role in with: SELECT agent_handover.admit('ROLE', 'TEAM');",
  ],
  25006: [REFUSED, 'is read-only here', 'Use the address of the primary server.'],
  53100: FULL,
  53300: ['HANDOVER_REMOTE_BUSY', 'has too many connections', 'Try again later, or put a pooler in front of it.'],
  '57P03': ['HANDOVER_REMOTE_UNREACHABLE', 'is starting up or shutting down', 'Try again later.'],
  57014: ['HANDOVER_REMOTE_BUSY', 'took too long', 'Try again later.'],
  55: ['HANDOVER_REMOTE_BUSY', 'is busy', 'Try again later.'],
  40: ['HANDOVER_REMOTE_BUSY', 'was busy with others', 'Try again.'],
  23: [REFUSED, 'rejected what was sent', 'Nothing was written.'],
};

const CHECK_HOST = 'check host and port of the address, and the network.';
const UNREACHED: Readonly<Record<string, readonly [what: string, hint: string]>> = {
  ENOTFOUND: ['names a host that is not known', CHECK_HOST],
  EAI_AGAIN: ['names a host that cannot be looked up now', CHECK_HOST],
  ECONNREFUSED: [
    'is not reached: nothing listens on that port',
    'start the server, or check host and port of the address.',
  ],
  EHOSTUNREACH: ['is not reached: there is no way to that host', CHECK_HOST],
  ENETUNREACH: ['is not reached: there is no way to that host', CHECK_HOST],
};

function codeOf(error: Error): string {
  return isErrno(error) ? (error.code ?? '') : '';
}

/**
 * A coded error for whatever went wrong. The server's own words are left out: they may hold what was sent, and are written by
 * whoever runs it.
 */
export function explainFailure(error: unknown, address: string): unknown {
  if (error instanceof HandoverError || !(error instanceof Error) || error instanceof TypeError) return error;
  const state = stateOf(error);
  if (state === null || isLost(error)) {
    const [what, hint] = (state === null ? UNREACHED[codeOf(error)] : undefined) ?? [
      (state === null ? undefined : EXPLANATIONS[state]?.[1]) ?? 'cannot be reached, or does not answer',
      'try again when it is back.',
    ];
    return new HandoverError('HANDOVER_REMOTE_UNREACHABLE', `${address} ${what}`, {
      hint: `Nothing is lost: ${hint}`,
      ...(state === null ? { cause: error } : { data: { sqlstate: state } }),
    });
  }
  const [code, what, hint] = EXPLANATIONS[state] ??
    EXPLANATIONS[state.slice(0, 2)] ?? [REFUSED, 'rejected the request', 'Check its version: 13 or newer.'];
  return new HandoverError(code, `${address} ${what} (${state})`, { hint, data: { sqlstate: state } });
}
