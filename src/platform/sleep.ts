/** Blocks the thread. For the short waits of commands that have nothing else to do. */
export function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Milliseconds on the monotonic clock. Asking for `performance` would load a module of Node for it. */
export function readTimer(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
