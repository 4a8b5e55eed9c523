/**
 * Makes reading a pipe or a socket answer at once, with EAGAIN where there is nothing yet. False where that cannot be done.
 *
 * It takes hold of it by the handle that is inside of `process.stdin`, which Node does not promise to keep: whoever asks must
 * have another way. `process.stdin` itself takes more than half of the time that a hook may take.
 */
export function unblock(fd: number): boolean {
  const bind = getField(process, 'binding');
  if (process.platform === 'win32' || typeof bind !== 'function') return false;
  try {
    const pipes: unknown = Reflect.apply(bind, process, ['pipe_wrap']);
    const Pipe = getField(pipes, 'Pipe');
    if (typeof Pipe !== 'function') return false;
    const pipe: unknown = Reflect.construct(Pipe, [getField(getField(pipes, 'constants'), 'SOCKET')]);
    const open = getField(pipe, 'open');
    return typeof open === 'function' && Reflect.apply(open, pipe, [fd]) === 0;
  } catch (error) {
    // Whatever a later Node does in its place; anything else is a mistake of ours.
    if (error instanceof Error) return false;
    throw error;
  }
}

function getField(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
