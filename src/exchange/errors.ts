import { type ErrorCode, type ErrorContext, HandoverError } from '../errors.ts';

/** A malformed bundle. Names the part, never its content. */
export function malformedError(part: string): HandoverError {
  return new HandoverError('HANDOVER_BUNDLE_INVALID', `the bundle is damaged or was changed: ${part}`, {
    hint: 'Nothing was imported. Ask the sender for the file again.',
    data: { part },
  });
}

export function notBundleError(): HandoverError {
  return new HandoverError('HANDOVER_BUNDLE_INVALID', 'this is not a bundle', {
    hint: 'Use a file that handover export or session-handoff wrote. For other records: handover migrate --from FILE',
    data: { part: 'kind of file' },
  });
}

/** A bundle that is well-formed, but must not be trusted. */
export function untrustedError(message: string, context: ErrorContext): HandoverError {
  return new HandoverError('HANDOVER_BUNDLE_REFUSED', message, context);
}

export function unsignedError(): HandoverError {
  const hint = 'Ask the sender for a signed one. To import it anyway: --allow-unsigned';
  return untrustedError('the bundle is not signed: anybody could have made or changed it', { hint });
}

/** For a response that is not a success. */
export function responseError(where: string, status: number): HandoverError {
  const [code, what, hint] = explainStatus(status);
  return new HandoverError(code, `${where} ${what} (${status})`, {
    hint: `${hint} Nothing is lost.`,
    data: { status },
  });
}

function explainStatus(status: number): [code: ErrorCode, what: string, hint: string] {
  const refused = 'HANDOVER_REMOTE_REFUSED';
  if (status === 401 || status === 403)
    return [refused, 'rejected the key', 'Check that the key is correct, still valid, and may write there.'];
  if (status === 429) return ['HANDOVER_REMOTE_BUSY', 'is rate limiting', 'Try again later.'];
  if (status >= 500) return ['HANDOVER_REMOTE_UNREACHABLE', 'is not working', 'Try again later.'];
  return [refused, 'rejected the request', 'Check the address in your config.toml.'];
}

export function notConfiguredError(message: string, context: { hint: string }): HandoverError {
  return new HandoverError('HANDOVER_PUBLISH_UNCONFIGURED', message, context);
}

export function urlError(setting: string): HandoverError {
  const hint = 'Use an https:// address without user, query or fragment; http:// is allowed for this machine only.';
  return notConfiguredError(`${setting} is not an address to publish to`, { hint });
}
