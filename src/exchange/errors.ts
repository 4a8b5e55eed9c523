import { HandoverError } from '../errors.ts';

/** A bundle that is not built as it should be. The part is named, never what stands in it. */
export function malformedError(part: string): HandoverError {
  return new HandoverError(
    'HANDOVER_BUNDLE_INVALID',
    `the bundle is not whole, or not what was packed: ${part}`,
    { hint: 'Nothing was imported. Ask the sender for the file again.', data: { part } },
  );
}

/** Something else altogether. */
export function notBundleError(): HandoverError {
  return new HandoverError('HANDOVER_BUNDLE_INVALID', 'that is not a bundle', {
    hint: 'Give a file that handover export or session-handoff wrote. For other records: handover migrate --from FILE',
    data: { part: 'kind of file' },
  });
}

/** A bundle that may be whole, but is not to be trusted. */
export function untrustedError(message: string, hint: string, data?: Record<string, unknown>): HandoverError {
  return new HandoverError('HANDOVER_BUNDLE_REFUSED', message, {
    hint,
    ...(data === undefined ? {} : { data }),
  });
}

export function unsignedError(): HandoverError {
  return untrustedError(
    'the bundle is not signed: anybody can have made it or changed it',
    'Ask the sender for a signed one. To take it nevertheless: --allow-unsigned',
  );
}

/** What the status of an answer means to the user. */
export function responseError(where: string, status: number): HandoverError {
  if (status === 401 || status === 403) {
    return new HandoverError('HANDOVER_REMOTE_REFUSED', `${where} refused the key (${status})`, {
      hint: 'See whether the key is right, still valid, and may write there. Nothing is lost.',
      data: { status },
    });
  }
  if (status === 429) {
    return new HandoverError('HANDOVER_REMOTE_BUSY', `${where} asks for patience (429)`, {
      hint: 'Nothing is lost: try again later.',
      data: { status },
    });
  }
  if (status >= 500) {
    return new HandoverError('HANDOVER_REMOTE_UNREACHABLE', `${where} is out of order (${status})`, {
      hint: 'Nothing is lost: try again later.',
      data: { status },
    });
  }
  return new HandoverError('HANDOVER_REMOTE_REFUSED', `${where} did not take it (${status})`, {
    hint: 'See whether the address in your config.toml is right. Nothing is lost.',
    data: { status },
  });
}

export function notConfiguredError(message: string, hint: string): HandoverError {
  return new HandoverError('HANDOVER_PUBLISH_UNCONFIGURED', message, { hint });
}

export function urlError(setting: string): HandoverError {
  return notConfiguredError(
    `${setting} is not an address to publish to`,
    'Give an https:// address without a user, a query or a fragment; http:// is for this machine alone.',
  );
}
