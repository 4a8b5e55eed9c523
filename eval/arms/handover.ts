import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspectTranscript } from '../../src/agents/find-session.ts';
import { captureSession } from '../../src/app/capture/capture.ts';
import { requireReader } from '../../src/app/parse.ts';
import { compileBrief } from '../../src/handover/brief/compile.ts';
import { sealHandover } from '../../src/handover/seal.ts';
import { shortHash } from '../../src/model/hash.ts';
import { makeHandoverId } from '../../src/model/id.ts';
import { formatTimestamp } from '../../src/model/time.ts';
import type { Machine } from '../../src/platform/machine.ts';
import { Redactor } from '../../src/redact/redactor.ts';
import type { Cut } from '../corpus/cuts.ts';
import type { Arm, WriteBrief } from './arm.ts';

const NOW = Date.UTC(2026, 0, 31, 12);

/**
 * The product: what `handover capture --transcript FILE --print brief --dry-run` prints of the transcript as it was at
 * the cut. The transcripts are written below `folder`.
 */
export function makeHandoverArm(folder: string): Arm {
  return {
    name: 'handover',
    about: 'the brief of this project',
    isWhole: false,
    canTell: () => true,
    prepare: (cut) => capture(cut, folder),
  };
}

/** The same with all secrets left in clear, to tell what redaction costs. */
export function makeClearArm(folder: string): Arm {
  return {
    ...makeHandoverArm(folder),
    name: 'clear',
    about: 'the same, without redaction',
    prepare: (cut) => capture(cut, join(folder, 'clear'), new BlindRedactor({ key: () => NO_KEY })),
  };
}

const NO_KEY: Uint8Array = new Uint8Array(32);

class BlindRedactor extends Redactor {
  override redactText(text: string): string {
    return text;
  }

  override redactValue(value: unknown): unknown {
    return value;
  }

  override redactRecord(record: object): Record<string, unknown> {
    return { ...record };
  }
}

async function capture(cut: Cut, folder: string, redactor?: Redactor): Promise<WriteBrief> {
  const cwd = join(folder, shortHash(`${cut.sessionId} ${cut.index}`, 12));
  const path = join(cwd, `${cut.sessionId.replace(/[^\w-]/g, '_')}.jsonl`);
  const machine = imagineMachine(cwd);
  mkdirSync(cwd, { recursive: true });
  writeFileSync(path, cut.bytes);
  const { agent, session } = await inspectTranscript(path);
  const { draft } = captureSession(agent, session, machine, redactor === undefined ? {} : { redactor });
  rmSync(cwd, { recursive: true });
  const id = makeHandoverId(NOW, machine.random.bytes(3));
  const handover = sealHandover({ ...draft, id, created_at: formatTimestamp(NOW) });
  const reader = requireReader('generic');
  return (budget) => compileBrief(handover, reader, { budget }).text;
}

/**
 * The same anywhere and at any time. Git is not on its path: what git says today is not what it said at the cut, and
 * would give away what came after.
 */
function imagineMachine(cwd: string): Machine {
  return {
    clock: { now: () => NOW },
    random: { bytes: (count) => new Uint8Array(count) },
    env: { PATH: cwd },
    platform: 'linux',
    home: undefined,
    cwd,
  };
}
