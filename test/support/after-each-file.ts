const tasks: (() => void | Promise<void>)[] = [];

/**
 * To be called by a module of test/support when it is loaded. Test files share a process, so that hooks of vitest in such a
 * module would run after the first file alone.
 */
export function afterEachFile(task: () => void | Promise<void>): void {
  tasks.unshift(task);
}

export async function endFile(): Promise<void> {
  for (const task of tasks) await task();
}
