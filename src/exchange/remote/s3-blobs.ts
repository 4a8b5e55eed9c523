import type { S3mini } from 's3mini';
import { HandoverError } from '../../errors.ts';
import { compareCodeUnits } from '../../model/hash.ts';
import type { Machine } from '../../platform/machine.ts';
import type { S3Settings } from '../../platform/publish-settings.ts';
import { addressBucket, decodeReferences, openS3Client, requestOrNull } from '../publish/s3-store.ts';
import type { BlobStore } from './blobs.ts';
import { checkWrites, tooManyError } from './folder-blobs.ts';
import { MAX_BODY_BYTES } from './page.ts';

const AT_ONCE = 8;
const LISTED = 1000;
const MAX_TRIES = 3;

/** Objects below a prefix of a bucket, written with `If-None-Match: *`. `check` finds servers that ignore that header. */
export function openS3Blobs(settings: S3Settings, machine: Machine): BlobStore {
  const prefix = `${settings.prefix}/`;
  const address = `${addressBucket(settings)}/${prefix}`;
  let client: S3mini | undefined;
  const request = async <T>(work: (s3: S3mini) => Promise<T>): Promise<T | null> => {
    client ??= openS3Client(settings, machine, MAX_BODY_BYTES);
    const s3 = client;
    return await requestOrNull(address, async () => await work(s3));
  };
  const create: BlobStore['create'] = async (path, bytes) => {
    const object = [`${prefix}${path}`, Buffer.from(bytes), 'application/octet-stream'] as const;
    const condition = { 'if-none-match': '*' };
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const isCreated = (await request(async (s3) => await s3.putObject(...object, undefined, condition))) !== null;
      if (isCreated) return true;
      // Also refused while another write of the same object is under way, which may fail.
      if ((await request(async (s3) => await s3.objectExists(`${prefix}${path}`))) === true) return false;
    }
    throw new HandoverError('HANDOVER_REMOTE_REFUSED', `${address} takes nothing`, {
      hint: `Check that the bucket "${settings.bucket}" exists, and that the key may write there. Nothing is lost.`,
    });
  };
  const remove: BlobStore['remove'] = async (paths) => {
    for (const path of paths) await request(async (s3) => await s3.deleteObject(`${prefix}${path}`));
  };
  return {
    address,
    create,
    createAll: async (blobs) => {
      for (let from = 0; from < blobs.length; from += AT_ONCE)
        await Promise.all(blobs.slice(from, from + AT_ONCE).map(async ({ path, bytes }) => await create(path, bytes)));
    },
    read: async (path, maxBytes) => {
      const data = await request(async (s3) => await s3.getObjectArrayBuffer(`${prefix}${path}`));
      if (data !== null && data.byteLength > maxBytes) throw tooManyError(path, maxBytes);
      return data === null ? null : Buffer.from(data);
    },
    list: async (below, most = Number.POSITIVE_INFINITY) => {
      const paths: string[] = [];
      for (let token: string | undefined; ; ) {
        const page = await request(async (s3) => await s3.listObjectsPaged('/', `${prefix}${below}`, LISTED, token));
        const keys = page?.objects?.map(({ Key }) => decodeReferences(Key).slice(prefix.length)) ?? [];
        paths.push(...keys);
        if (paths.length > most) throw tooManyError(below, most);
        token = page?.nextContinuationToken;
        if (token === undefined || token === '' || keys.length === 0) return paths.sort(compareCodeUnits);
      }
    },
    remove,
    check: async () => await checkWrites({ create, remove }, machine),
    close: async () => undefined,
  };
}
