import { cleanLine } from '../../model/text.ts';
import { readRemotes } from '../../platform/remote-settings.ts';
import { readIntact } from '../../store/handovers.ts';
import { type HeldTask, listHeldTasks } from '../../store/held-tasks.ts';
import type { Store } from '../../store/store.ts';
import { bold, dim, green, type Line, yellow } from './styled-text.ts';

/** Null where the handover is not here. */
export function findTitle(store: Store, task: string): string | null {
  return readIntact(store, task)?.title ?? null;
}

/** What this store holds or is late with, on the remotes that the user still has. The latest first. */
export function listHolding(store: Store): HeldTask[] {
  const held = listHeldTasks(store).filter(({ state }) => state !== 'ended');
  const names = held.length === 0 ? [] : readRemotes(store.machine).map(({ name }) => name);
  return held.filter(({ remote }) => names.includes(remote));
}

/** By the clock of this machine: others may take it. */
function isOver({ machine }: Store, { custody }: HeldTask): boolean {
  return custody.until !== null && machine.clock.now() > Date.parse(custody.until);
}

export function describeHeld(store: Store, held: HeldTask) {
  const { task, fence, remote, custody, late } = held;
  const over = isOver(store, held);
  return { task, title: findTitle(store, task), fence, remote, until: custody.until, over, late };
}

/** What this store knows of a task that it took, without asking the remote. */
export function printHeld(store: Store, held: HeldTask): Line {
  const { task, remote, custody, late } = held;
  const title = cleanLine(findTitle(store, task) ?? '');
  if (late === null && isOver(store, held)) {
    const since = `  its lease on ${remote} was over at ${custody.until}; go on: handover take ${task}`;
    return [yellow('you held '), bold(task), `  ${title}`, dim(since)];
  }
  if (late === null)
    return [green('you hold '), bold(task), `  ${title}`, dim(`  until ${custody.until} on ${remote}`)];
  return [yellow('late  '), bold(task), `  ${title}`, dim(`  ${cleanLine(late.holder)} holds it since ${late.at}`)];
}
