import * as zlib from 'node:zlib';

/** The content of a zstd file; null when this Node cannot tell or the bytes are damaged. */
export function decompressZstd(bytes: Buffer, maxBytes: number): Buffer | null {
  const decompress: unknown = Reflect.get(zlib, 'zstdDecompressSync');
  if (typeof decompress !== 'function') return null;
  try {
    const content: unknown = decompress(bytes, { maxOutputLength: maxBytes });
    return Buffer.isBuffer(content) ? content : null;
  } catch (error) {
    if (error instanceof Error) return null;
    throw error;
  }
}
