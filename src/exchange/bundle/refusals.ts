import { HandoverError } from '../../errors.ts';

/** A bundle that is not built as it should be. The part is named, never what stands in it. */
export function refuseForm(part: string): HandoverError {
  return new HandoverError(
    'HANDOVER_BUNDLE_INVALID',
    `the bundle is not whole, or not what was packed: ${part}`,
    {
      hint: 'Nothing was imported. Ask the sender for the file again.',
      data: { part },
    },
  );
}

/** Something else altogether. */
export function refuseKind(): HandoverError {
  return new HandoverError('HANDOVER_BUNDLE_INVALID', 'that is not a bundle', {
    hint: 'Give a file that handover export or session-handoff wrote. For other records: handover migrate --from FILE',
    data: { part: 'kind of file' },
  });
}

/** A bundle that may be whole, but is not to be trusted. */
export function refuse(message: string, hint: string, data?: Record<string, unknown>): HandoverError {
  return new HandoverError('HANDOVER_BUNDLE_REFUSED', message, {
    hint,
    ...(data === undefined ? {} : { data }),
  });
}

export function refuseUnsigned(): HandoverError {
  return refuse(
    'the bundle is not signed: anybody can have made it or changed it',
    'Ask the sender for a signed one. To take it nevertheless: --allow-unsigned',
  );
}
