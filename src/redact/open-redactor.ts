import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { catchIf, isFailure } from '../errors.ts';
import type { Machine } from '../platform/machine.ts';
import { findDataFolder } from '../platform/paths.ts';
import { findSecretKey, REDACTION_KEY, requireSecretKey } from '../platform/secret-file.ts';
import { Redactor } from './redactor.ts';
import { readRedactSettings } from './settings.ts';

interface RedactorScope {
  folder: string | null;
  /** Whether to create a missing key; without one, marks are valid for this run only. */
  makesKey: boolean;
}

/** A redactor with the settings of user and project, and the key of the store. */
export function openRedactor(machine: Machine, scope: RedactorScope): Redactor {
  return prepareRedactors(machine, scope)();
}

/** Without settings and store, for output only: its marks are valid for this run. */
export function openPlainRedactor(): Redactor {
  return new Redactor({ key: () => randomBytes(32) });
}

/** For many sessions or records: each has its own secrets, and so its own redactor. */
export function prepareRedactors(machine: Machine, { folder, makesKey }: RedactorScope): () => Redactor {
  const settings = readRedactSettings(machine, folder);
  let known: Uint8Array | null = null;
  const key = (): Uint8Array => {
    known ??= findKey(machine, makesKey) ?? randomBytes(32);
    return known;
  };
  return () => new Redactor({ key, settings });
}

/** Null where there is no store that can be read or written. */
function findKey(machine: Machine, makesKey: boolean): Uint8Array | null {
  return catchIf(isFailure, null, () => {
    const folder = findDataFolder(machine);
    return makesKey ? requireSecretKey(folder, REDACTION_KEY) : findSecretKey(join(folder, REDACTION_KEY));
  });
}
