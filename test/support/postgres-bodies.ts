import { randomBytes } from 'node:crypto';
import type { OutgoingBody } from '../../src/exchange/remote/remote.ts';
import { declareHandover } from '../../src/handover/declare.ts';
import { sealHandover } from '../../src/handover/seal.ts';
import type { Handover } from '../../src/model/handover.ts';
import { sha256Hex } from '../../src/model/hash.ts';
import { formatIdTime } from '../../src/model/id.ts';
import { formatTimestamp } from '../../src/model/time.ts';
import { describeMachine } from '../../src/platform/machine.ts';
import { makeDeclaration, PLACE } from './samples.ts';

export const PROJECT: string = PLACE.project.id;

/** A handover that no store has. */
export function makeHandover(
  title: string,
  facts: readonly string[] = [],
  ms: number = Date.UTC(2026, 4, 1),
): Handover {
  const declaration = makeDeclaration({ title, facts: facts.map((text) => ({ kind: 'decision' as const, text })) });
  const draft = declareHandover(declaration, PLACE, describeMachine());
  const id = `${formatIdTime(ms)}-${randomBytes(2).toString('hex')}`;
  return sealHandover({ ...draft, id, created_at: formatTimestamp(ms) });
}

export function makeBody(handover: Handover, changes: Partial<OutgoingBody> = {}): OutgoingBody {
  const bytes = changes.bytes ?? Buffer.from(`${JSON.stringify(handover)}\n`);
  return { name: `${handover.id}-${sha256Hex(bytes).slice(0, 32)}`, project: PROJECT, bytes, handover, ...changes };
}

export function makeWriter(): string {
  return randomBytes(16).toString('hex');
}
