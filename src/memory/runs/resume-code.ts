/** The exit status of `check`: no run, interrupted, completed. */
export type ResumeCode = 0 | 1 | 2;

/**
 * Null when the text is not a checkpoint. Only the status counts: a run whose steps are all done may still have been
 * interrupted. This file imports nothing, so that `check` starts fast.
 */
export function readResumeCode(text: string): ResumeCode | null {
  const value = parseOrNull(text);
  if (typeof value !== 'object' || value === null || !('status' in value) || !('steps' in value)) return null;
  const { status, steps } = value;
  if (typeof steps !== 'object' || steps === null || Array.isArray(steps)) return null;
  if (!Object.values(steps).every((state) => state === 'done' || state === 'pending')) return null;
  if (status === 'completed') return 2;
  if (status === 'in_progress') return 1;
  return status === 'none' ? 0 : null;
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
