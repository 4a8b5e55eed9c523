import { S3mini } from 's3mini';
import type { HandoverError } from '../../errors.ts';
import { limitFetch, parseSafeUrl } from '../../platform/http.ts';
import type { Machine } from '../../platform/machine.ts';
import { expandHome } from '../../platform/paths.ts';
import { readSecretFile } from '../../platform/secret-file.ts';
import { type KeyPair, parseCredentials } from './credentials.ts';
import type { ObjectStore, StoredObject } from './objects.ts';
import { refuseAnswer, refuseUrl, unconfigured } from './refusals.ts';
import type { S3Settings } from './settings.ts';

/** Objects below `<prefix>/<name>/` of a bucket, addressed by path. Every write says what it expects to replace. */
export function openS3Store(settings: S3Settings, name: string, machine: Machine): ObjectStore {
  const endpoint = parseSafeUrl(settings.endpoint);
  if (endpoint === null) throw refuseUrl('publish.s3.endpoint');
  const base = `${endpoint.href.replace(/\/+$/, '')}/${settings.bucket}`;
  const prefix = `${settings.prefix}/${name}/`;
  const destination = `${base}/${prefix}`;
  let opened: S3mini | undefined;
  const open = (): S3mini => {
    opened ??= new S3mini({
      ...findKeyPair(settings, machine),
      endpoint: base,
      region: settings.region,
      fetch: limitFetch(settings.timeout * 1000),
    });
    return opened;
  };
  return {
    backend: 's3',
    destination,
    list: async () => {
      const objects = await ask(destination, () => open().listObjects('/', prefix));
      if (objects === null) throw refuseBucket(settings.bucket);
      return new Map(objects.map(({ Key, ETag }) => [spell(Key).slice(prefix.length), bare(ETag)]));
    },
    read: async (path) => await ask(destination, () => readObject(open(), `${prefix}${path}`)),
    write: async (path, bytes, expected) => {
      const headers: Record<string, string> =
        expected === null ? { 'if-none-match': '*' } : { 'if-match': `"${expected}"` };
      return await ask(destination, async () => {
        const answer = await open().putObject(
          `${prefix}${path}`,
          Buffer.from(bytes),
          'application/octet-stream',
          undefined,
          headers,
        );
        return bare(answer.headers.get('etag') ?? '');
      });
    },
    inspect: async () => [],
  };
}

async function readObject(s3: S3mini, key: string): Promise<StoredObject | null> {
  const { data, etag } = await s3.getObjectWithETag(key);
  return data === null || etag === null ? null : { bytes: new Uint8Array(data), version: bare(etag) };
}

/** The library leaves characters that XML gives by their number, as some stores do in lists. */
function spell(text: string): string {
  return text.replace(/&#(?:x([0-9a-f]{1,6})|(\d{1,7}));/gi, (reference, hex, decimal) => {
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : reference;
  });
}

function bare(etag: string): string {
  return spell(etag).replace(/^(?:W\/)?"|"$|&quot;/g, '');
}

/** What stands there is not what was expected, or was being written at the same time. */
const NOT_AS_EXPECTED = [404, 409, 412];

async function ask<T>(where: string, request: () => Promise<T>): Promise<T | null> {
  try {
    return await request();
  } catch (error) {
    const status = statusOf(error);
    if (status === null) throw error;
    if (NOT_AS_EXPECTED.includes(status)) return null;
    throw refuseAnswer(where, status);
  }
}

function statusOf(error: unknown): number | null {
  if (!(error instanceof Error) || error.name !== 'S3ServiceError') return null;
  return 'status' in error && typeof error.status === 'number' ? error.status : null;
}

/** Never from the command line, where other users could see it. */
function findKeyPair(settings: S3Settings, machine: Machine): KeyPair {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = machine.env;
  if (settings.credentials_file !== undefined) {
    const path = expandHome(settings.credentials_file, machine);
    const pair = parseCredentials(readSecretFile(path), settings.profile);
    if (pair !== null) return pair;
    throw unconfigured(
      `${path} has no keys for the profile "${settings.profile}"`,
      'Add aws_access_key_id and aws_secret_access_key below its heading.',
    );
  }
  if (machine.env.AWS_SESSION_TOKEN) {
    throw unconfigured(
      'temporary keys (AWS_SESSION_TOKEN) are not supported',
      'Use keys of a user that may do nothing but list, read and write this bucket.',
    );
  }
  if (accessKeyId && secretAccessKey) return { accessKeyId, secretAccessKey };
  throw unconfigured(
    'there are no keys for the object store',
    'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a file as publish.s3.credentials_file in your config.toml.',
  );
}

function refuseBucket(bucket: string): HandoverError {
  return unconfigured(
    `there is no bucket "${bucket}"`,
    'Make it, or mend publish.s3.bucket in your config.toml.',
  );
}
