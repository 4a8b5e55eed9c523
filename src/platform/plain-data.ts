import { deserialize, serialize } from 'node:v8';

/** What plain data in bytes depends on besides the data. */
export const RUNTIME: string = process.version;

/**
 * Objects, lists, maps, sets and what they hold, as bytes for this very program: what is shared stays shared, and other
 * versions may read something else. For files that can be made again.
 */
export function encodePlainData(data: unknown): Buffer {
  return serialize(data);
}

/** Only for bytes that are known to come from `encodePlainData`: others may bring the program down. */
export function decodePlainData(bytes: Uint8Array): unknown {
  return deserialize(bytes);
}
