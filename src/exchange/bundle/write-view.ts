import { usageError } from '../../errors.ts';
import { compileBrief } from '../../handover/brief/compile.ts';
import type { Reader } from '../../handover/brief/reader.ts';
import { isUnresolved } from '../../model/fact-roles.ts';
import { type Handover, isForeign } from '../../model/handover.ts';
import type { Machine } from '../../platform/machine.ts';
import { untrustedError } from '../errors.ts';
import { encryptSessionHandoff, formatSessionHandoffBundle } from '../legacy/session-handoff-bundle.ts';
import { writeSessionHandoffRecord } from '../legacy/session-handoff-record.ts';
import { writeV2Envelope } from '../legacy/v2-view.ts';
import type { Encryption } from './age.ts';
import type { OwnKeys } from './own-keys.ts';

export type ViewFormat = 'markdown' | 'json' | 'session-handoff' | 'v2';

type ViewOptions = { machine: Machine; signer: OwnKeys | null; encryption: Encryption | null };

/** Handovers in a format that people or other tools read. */
export function writeView(
  all: readonly Handover[],
  { format, reader }: { format: ViewFormat; reader: Reader },
  options: ViewOptions,
): string {
  if (format === 'json') return `${JSON.stringify(all, null, 2)}\n`;
  const handovers = all.map((handover) => ({ ...handover, facts: handover.facts.filter(isUnresolved) }));
  switch (format) {
    case 'markdown':
      return handovers.map((handover) => compileBrief(handover, reader).text).join('\n');
    case 'session-handoff':
      return writeSessionHandoff(requireOne(handovers, format), options);
    case 'v2':
      return writeV2(requireOne(handovers, format), options.machine);
  }
}

function requireOne(handovers: readonly Handover[], format: string): Handover {
  const [handover, ...others] = handovers;
  if (handover !== undefined && others.length === 0) return handover;
  throw usageError(`--format ${format} holds one handover`, 'Name one with --id, or use --format bundle for several.');
}

/** With the project's name instead of its path. */
function writeSessionHandoff(handover: Handover, { signer, encryption }: ViewOptions): string {
  const record = { ...writeSessionHandoffRecord(handover), project: handover.project.name };
  const bundle = formatSessionHandoffBundle(record, signer);
  if (encryption === null || !('passphrase' in encryption)) return `${bundle}\n`;
  return `${encryptSessionHandoff(Buffer.from(bundle), encryption.passphrase)}\n`;
}

/** Handoff V2 trusts any envelope with a checksum, which anybody can compute, so imported handovers are refused. */
function writeV2(handover: Handover, machine: Machine): string {
  if (isForeign(handover))
    throw untrustedError('an imported handover is not exported to handoff V2, which would obey it', {
      hint: 'Read it: handover render',
    });
  return `${JSON.stringify(writeV2Envelope(handover, { machine, history: [] }), null, 2)}\n`;
}
