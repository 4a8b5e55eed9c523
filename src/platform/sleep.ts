/** Blocks the thread. For the short waits of commands that have nothing else to do. */
export function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
