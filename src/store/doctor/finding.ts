import type { Store } from '../store.ts';

/**
 * How bad a finding is: `damage` means that something kept is not as it was kept, `warning` that something should be
 * put right, `notice` that something is worth knowing.
 */
export type Level = 'damage' | 'warning' | 'notice';

export interface Finding {
  code: string;
  level: Level;
  /** The file it is about; null for the surroundings. */
  path: string | null;
  message: string;
  /** What `--fix` would do; null when there is nothing that is safe to do. */
  remedy: Remedy | null;
}

export interface Remedy {
  /** As in "would …". */
  description: string;
  apply(store: Store): void;
}

export interface FixedFinding extends Finding {
  fixed: boolean;
}
