import { createHmac } from 'node:crypto';

/** A file of its own, because hashing is slow to load and most hooks do without. */
export function computeMac(key: string, body: string): string {
  return createHmac('sha256', key).update(body).digest('hex');
}
