import { HandoverError } from '../../errors.ts';

/** What the status of an answer means to the user. */
export function refuseAnswer(where: string, status: number): HandoverError {
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

export function unconfigured(message: string, hint: string): HandoverError {
  return new HandoverError('HANDOVER_PUBLISH_UNCONFIGURED', message, { hint });
}

export function refuseUrl(setting: string): HandoverError {
  return unconfigured(
    `${setting} is not an address to publish to`,
    'Give an https:// address without a user, a query or a fragment; http:// is for this machine alone.',
  );
}
