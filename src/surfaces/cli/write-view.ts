import { compileBrief } from '../../brief/compile.ts';
import type { Lock } from '../../bundle/age.ts';
import type { OwnKeys } from '../../bundle/own-keys.ts';
import { formatSessionHandoffBundle } from '../../bundle/session-handoff-bundle.ts';
import { lockSessionHandoff, makeLockSeed } from '../../bundle/session-handoff-lock.ts';
import { HandoverError } from '../../errors.ts';
import { writeSessionHandoffRecord } from '../../handover/session-handoff-view.ts';
import { writeV2Envelope } from '../../handover/v2-view.ts';
import { type Handover, isForeign } from '../../model/handover.ts';
import type { Machine } from '../../platform/machine.ts';
import type { ExportFlags } from './commands/export.ts';
import { requireReader } from './readers.ts';

export interface ViewOptions {
  machine: Machine;
  signer: OwnKeys | null;
  lock: Lock | null;
}

/** Handovers in a form that other tools, or people, read. */
export function writeView(
  handovers: readonly Handover[],
  { format, target }: Pick<ExportFlags, 'format' | 'target'>,
  options: ViewOptions,
): string {
  switch (format) {
    case 'markdown':
      return handovers
        .map((handover) => compileBrief(handover, requireReader(target ?? 'generic')).text)
        .join('\n');
    case 'session-handoff':
      return writeSessionHandoff(requireOne(handovers, format), options);
    case 'v2':
      return writeV2(requireOne(handovers, format), options.machine);
    default:
      return `${JSON.stringify(handovers, null, 2)}\n`;
  }
}

function requireOne(handovers: readonly Handover[], format: string): Handover {
  const [handover, ...others] = handovers;
  if (handover !== undefined && others.length === 0) return handover;
  throw new HandoverError('HANDOVER_USAGE', `--format ${format} holds one handover`, {
    hint: 'Name one with --id, or take --format bundle for many.',
  });
}

/** The path of the project stays here: its name goes in its place. */
function writeSessionHandoff(handover: Handover, { signer, lock }: ViewOptions): string {
  const record = { ...writeSessionHandoffRecord(handover), project: handover.project.name };
  const bundle = formatSessionHandoffBundle(record, signer);
  if (lock === null || !('passphrase' in lock)) return `${bundle}\n`;
  return `${lockSessionHandoff(Buffer.from(bundle), lock.passphrase, makeLockSeed())}\n`;
}

/** Handoff V2 restores whatever has a checksum, and anybody can compute one: what others sent must not go that way. */
function writeV2(handover: Handover, machine: Machine): string {
  if (isForeign(handover)) {
    throw new HandoverError(
      'HANDOVER_BUNDLE_REFUSED',
      'what others sent is not given to handoff V2, which would obey it',
      {
        hint: 'Read it with: handover render',
      },
    );
  }
  return `${JSON.stringify(writeV2Envelope(handover, { machine, earlier: [] }), null, 2)}\n`;
}
