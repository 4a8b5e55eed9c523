import { sha256Hex } from '../../model/hash.ts';
import type { Side } from './embedder.ts';

/** By which a vector is kept: nothing of the text itself is. */
export function digestOf(text: string, side: Side): string {
  return sha256Hex(`${side}\n${text}`);
}
