import type { StricliProcess } from '@stricli/core';
import { HandoverError } from '../../errors.ts';
import type { Machine } from '../../platform/machine.ts';
import type { TextSink } from '../../platform/streams.ts';
import type { Catalog } from '../../store/catalog.ts';
import type { SaveResult } from '../../store/handovers.ts';
import { openStore, type Store } from '../../store/store.ts';
import { dim, type Output, yellow } from './output.ts';

/** What work on the store needs, whoever asks for it. */
export interface Context {
  machine: Machine;
  /** For what is said besides the answer. */
  err: Output;
  /** Progress can be drawn over itself. */
  drawsProgress: boolean;
}

/** What a command works with. */
export interface CliContext extends Context {
  process: StricliProcess;
  out: Output;
  /** Both ends are a terminal: a person can be asked. */
  interactive: boolean;
  readInput(maxBytes: number): string | null;
  /** For what is not text. */
  stdout: TextSink;
}

export function findStore(context: Pick<Context, 'machine'>): Store {
  return openStore(context.machine);
}

/** Opens the catalog, tells the user of what stands in its way, and closes it after use. */
export async function withCatalog<T>(
  context: Context,
  store: Store,
  work: (catalog: Catalog) => T | Promise<T>,
): Promise<T> {
  const { openCatalog } = await import('../../store/open-catalog.ts');
  const { catalog, indexFailure } = await openCatalog(store, progressOf(context, 'indexing'));
  if (indexFailure !== null)
    context.err.line(yellow('note: '), `the index cannot be used now (${indexFailure.message})`);
  try {
    const result = await work(catalog);
    await warnOfDamage(context, catalog);
    return result;
  } finally {
    catalog.close();
  }
}

async function warnOfDamage(context: Context, catalog: Catalog): Promise<void> {
  const damaged = await catalog.damaged();
  if (damaged.length === 0) return;
  const what = damaged.length === 1 ? '1 damaged file was' : `${damaged.length} damaged files were`;
  context.err.line(yellow('note: '), `${what} passed over; see: handover doctor`);
}

export function noteJournalFailure(
  context: Context,
  { journalFailure }: Pick<SaveResult, 'journalFailure'>,
): void {
  if (journalFailure === null) return;
  context.err.line(
    yellow('note: '),
    `it is kept, but the journal could not be written (${journalFailure.message})`,
  );
  context.err.line(dim('  next: '), 'when the disk is in order again: handover doctor --fix');
}

const DRAW_EVERY = 500;

/** Draws how far long work has come, where a person looks at a terminal. */
export function progressOf(
  context: Context,
  label: string,
): ((done: number, total?: number) => void) | undefined {
  if (!context.drawsProgress) return undefined;
  return (done, total) => {
    if (done % DRAW_EVERY !== 0 && done !== total) return;
    if (total !== undefined && total < DRAW_EVERY) return;
    const text = total === undefined ? `${label} ${done}` : `${label} ${done} of ${total}`;
    context.err.redraw(done === total ? null : dim(text));
  };
}

const REDRAW_MS = 100;

/** The same for few and slow things: draws by time, not by count. */
export function drawProgress(
  { drawsProgress, err, machine }: CliContext,
  label: string,
): ((done: number, total: number) => void) | undefined {
  if (!drawsProgress) return undefined;
  let drawnMs = 0;
  return (done, total) => {
    const now = machine.clock.now();
    if (done !== total && now - drawnMs < REDRAW_MS) return;
    if (done === total && drawnMs === 0) return;
    drawnMs = now;
    err.redraw(done === total ? null : dim(`${label} ${done} of ${total}`));
  };
}

export function refuseBoth(a: string, b: string): HandoverError {
  return new HandoverError('HANDOVER_USAGE', `${a} and ${b} cannot be given together`, {
    hint: `Leave one of them out.`,
  });
}
