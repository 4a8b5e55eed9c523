import type { EntriesFile, HookFile, TableFile, WholeFile } from '../../agents/hook-setup.ts';
import { HandoverError } from '../../errors.ts';
import { sha256Hex } from '../../model/hash.ts';
import { addEntries, isBare, removeEntries } from './entries.ts';
import type { Receipt } from './receipts.ts';
import { addTable, removeTable } from './server-table.ts';

/** A file as it is, and what is known of how it was before hooks were put into it. */
export interface Standing {
  /** Null when there is no file. */
  bytes: Buffer | null;
  receipt: Receipt | null;
}

/** What a file is to hold with our hooks. */
export function planInstall(file: HookFile, { bytes }: Standing): Buffer {
  const text = bytes === null ? null : decode(bytes, file.path);
  if (file.kind === 'entries') return Buffer.from(addEntries(file, text));
  if (file.kind === 'table') return Buffer.from(addTable(file, text));
  if (text !== null && file.parse(text) === null) throw refuseForeign(file);
  return Buffer.from(file.content);
}

/**
 * What a file is to hold without our hooks, null for no file. As long as nobody changed it, that is every byte of what
 * it held before; else what it holds now, less what is ours.
 */
export function planUninstall(file: HookFile, standing: Standing): Buffer | null {
  const { bytes, receipt } = standing;
  if (bytes === null) return null;
  if (receipt !== null && receipt.after === sha256Hex(bytes)) return receipt.before;
  if (file.kind === 'whole') return isOurFile(file, bytes) ? null : bytes;
  if (!OURS.some((name) => bytes.includes(name))) return bytes;
  return file.kind === 'table' ? planTableRemoval(file, bytes, receipt) : planRemoval(file, bytes, receipt);
}

/** What everything of ours starts has one of these names: a file without them need not be understood. */
const OURS = ['hook.cjs', 'handover.cjs'];

function planTableRemoval(file: TableFile, bytes: Buffer, receipt: Receipt | null): Buffer | null {
  const rest = removeTable(file, decode(bytes, file.path));
  return rest === '' && receipt?.before === null ? null : Buffer.from(rest);
}

function planRemoval(file: EntriesFile, bytes: Buffer, receipt: Receipt | null): Buffer | null {
  const text = decode(bytes, file.path);
  const before = receipt?.before ?? null;
  const rest = removeEntries(file, text, before === null ? null : decode(before, file.path));
  if (rest === text) return bytes;
  const wasMade = receipt === null ? Object.keys(file.skeleton).length > 0 : receipt.before === null;
  return wasMade && isBare(file, rest) ? null : Buffer.from(rest);
}

function isOurFile(file: WholeFile, bytes: Buffer): boolean {
  return file.parse(bytes.toString('utf8')) !== null;
}

/** Exactly: what is decoded gives the same bytes again. */
export function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new HandoverError('HANDOVER_JSON_INVALID', `${path} is not UTF-8 text`, {
      hint: 'Nothing was changed. Save it as UTF-8 and try again, or leave the agent out by naming others with --agent.',
      cause,
      data: { path },
    });
  }
}

function refuseForeign({ path }: WholeFile): HandoverError {
  return new HandoverError('HANDOVER_PATH_UNSAFE', `${path} is there already, and not from us`, {
    hint: 'Nothing was changed. Rename it, or leave the agent out by naming others with --agent.',
  });
}
