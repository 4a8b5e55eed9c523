import { HandoverError } from '../../src/errors.ts';
import type { BlobStore } from '../../src/exchange/remote/blobs.ts';

/** Blobs in memory, which can be copied and put back. */
export function makeMemoryBlobs(): BlobStore & { blobs: Map<string, Buffer> } {
  const blobs = new Map<string, Buffer>();
  const create: BlobStore['create'] = async (path, bytes) => {
    if (blobs.has(path)) return false;
    blobs.set(path, Buffer.from(bytes));
    return true;
  };
  return {
    blobs,
    address: 'memory',
    create,
    createAll: async (all) => {
      for (const { path, bytes } of all) await create(path, bytes);
    },
    read: async (path, maxBytes) => {
      const bytes = blobs.get(path) ?? null;
      if (bytes !== null && bytes.length > maxBytes) throw new HandoverError('HANDOVER_TEXT_TOO_LARGE', path);
      return bytes;
    },
    list: async (folder) => [...blobs.keys()].filter((path) => path.startsWith(folder)).sort(),
    remove: async (paths) => {
      for (const path of paths) blobs.delete(path);
    },
    check: async () => [],
    close: async () => undefined,
  };
}

/** The same, with calls that fail now and then, before they did anything or after. */
export function cutBlobs(blobs: BlobStore, cut: (moment: 'before' | 'after') => void): BlobStore {
  const around = async <T>(work: () => Promise<T>): Promise<T> => {
    cut('before');
    const result = await work();
    cut('after');
    return result;
  };
  return {
    ...blobs,
    create: async (path, bytes) => await around(async () => await blobs.create(path, bytes)),
    createAll: async (all) => {
      for (const { path, bytes } of all) await around(async () => await blobs.create(path, bytes));
    },
    read: async (path, maxBytes) => await around(async () => await blobs.read(path, maxBytes)),
    list: async (folder, most) => await around(async () => await blobs.list(folder, most)),
    remove: async (paths) => {
      for (const path of paths) await around(async () => await blobs.remove([path]));
    },
  };
}
