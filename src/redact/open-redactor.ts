import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { HandoverError, isErrno } from '../errors.ts';
import type { Machine } from '../platform/machine.ts';
import { findDataFolder } from '../platform/paths.ts';
import { findSecretKey, REDACTION_KEY, requireSecretKey } from '../platform/secret-file.ts';
import { Redactor } from './redactor.ts';
import { readRedactSettings } from './settings.ts';

export interface Opening {
  /** Where the work is: the rules of its project are added. */
  folder: string | null;
  /** Whether a key is made where there is none; without one, marks hold for this run only. */
  makesKey: boolean;
}

/** A redactor with the settings of this user and project, and with the key of the store. */
export function openRedactor(machine: Machine, opening: Opening): Redactor {
  return prepareRedactors(machine, opening)();
}

/** Without settings and store, for what is only shown: its marks hold for this run. */
export function openPlainRedactor(): Redactor {
  return new Redactor({ key: () => randomBytes(32) });
}

/** For many sessions or records: each has its own secrets, so each gets a redactor of its own. */
export function prepareRedactors(machine: Machine, { folder, makesKey }: Opening): () => Redactor {
  const settings = readRedactSettings(machine, folder);
  let known: Uint8Array | null = null;
  const key = (): Uint8Array => {
    known ??= findKey(machine, makesKey) ?? randomBytes(32);
    return known;
  };
  return () => new Redactor({ key, settings });
}

/** Null where there is no store, or none that can be read or written: marks hold for this run only then. */
function findKey(machine: Machine, makesKey: boolean): Uint8Array | null {
  try {
    const folder = findDataFolder(machine);
    return makesKey ? requireSecretKey(folder, REDACTION_KEY) : findSecretKey(join(folder, REDACTION_KEY));
  } catch (error) {
    if (isErrno(error) || error instanceof HandoverError) return null;
    throw error;
  }
}
