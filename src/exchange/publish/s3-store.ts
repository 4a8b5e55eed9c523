import { S3mini } from 's3mini';
import { limitFetch, parseSafeUrl } from '../../platform/http.ts';
import type { Machine } from '../../platform/machine.ts';
import { expandHome } from '../../platform/paths.ts';
import type { S3Settings } from '../../platform/publish-settings.ts';
import { readSecretFile } from '../../platform/secret-file.ts';
import { notConfiguredError, responseError, urlError } from '../errors.ts';
import type { ObjectStore } from './objects.ts';

/** The address of a bucket, in the path. */
export function addressBucket({ endpoint, bucket }: S3Settings): string {
  const url = parseSafeUrl(endpoint);
  if (url === null) throw urlError('publish.s3.endpoint');
  return `${url.href.replace(/\/+$/, '')}/${bucket}`;
}

export function openS3Client(settings: S3Settings, machine: Machine, maxBytes?: number): S3mini {
  return new S3mini({
    ...findKeyPair(settings, machine),
    endpoint: addressBucket(settings),
    region: settings.region,
    fetch: limitFetch(settings.timeout * 1000, maxBytes),
  });
}

/** Objects below `<prefix>/<name>/` of a bucket, with path-style addresses. Every write is conditional. */
export function openS3Store(settings: S3Settings, name: string, machine: Machine): ObjectStore {
  const prefix = `${settings.prefix}/${name}/`;
  const destination = `${addressBucket(settings)}/${prefix}`;
  let client: S3mini | undefined;
  const open = (): S3mini => {
    client ??= openS3Client(settings, machine);
    return client;
  };
  return {
    backend: 's3',
    destination,
    list: async () => {
      const objects = await requestOrNull(destination, () => open().listObjects('/', prefix));
      const pathOf = (key: string): string => decodeReferences(key).slice(prefix.length);
      if (objects !== null) return new Map(objects.map(({ Key, ETag }) => [pathOf(Key), bareEtag(ETag)]));
      const hint = 'Create it, or correct publish.s3.bucket in your config.toml.';
      throw notConfiguredError(`there is no bucket "${settings.bucket}"`, { hint });
    },
    read: async (path) =>
      await requestOrNull(destination, async () => {
        const { data, etag } = await open().getObjectWithETag(`${prefix}${path}`);
        if (data === null || etag === null) return null;
        return { bytes: new Uint8Array(data), version: bareEtag(etag) };
      }),
    write: async (path, bytes, expected) => {
      const condition: Record<string, string> =
        expected === null ? { 'if-none-match': '*' } : { 'if-match': `"${expected}"` };
      return await requestOrNull(destination, async () => {
        const object = [`${prefix}${path}`, Buffer.from(bytes), 'application/octet-stream'] as const;
        const response = await open().putObject(...object, undefined, condition);
        return bareEtag(response.headers.get('etag') ?? '');
      });
    },
    inspect: async () => [],
  };
}

/** The library does not decode numeric XML references, which some stores use in lists. */
export function decodeReferences(text: string): string {
  return text.replace(/&#(?:x([0-9a-f]{1,6})|(\d{1,7}));/gi, (reference, hex, decimal) => {
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : reference;
  });
}

function bareEtag(etag: string): string {
  return decodeReferences(etag).replace(/^(?:W\/)?"|"$|&quot;/g, '');
}

/** Null when the object is missing, changed, or being written by others. */
export async function requestOrNull<T>(where: string, request: () => Promise<T>): Promise<T | null> {
  try {
    return await request();
  } catch (error) {
    const status = statusOf(error);
    if (status === null) throw error;
    if ([404, 409, 412].includes(status)) return null;
    throw responseError(where, status);
  }
}

function statusOf(error: unknown): number | null {
  if (!(error instanceof Error) || error.name !== 'S3ServiceError') return null;
  return 'status' in error && typeof error.status === 'number' ? error.status : null;
}

type KeyPair = Record<'accessKeyId' | 'secretAccessKey', string>;

/** Never from the command line, where other users could see it. */
function findKeyPair(settings: S3Settings, machine: Machine): KeyPair {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = machine.env;
  if (settings.credentials_file !== undefined) {
    const path = expandHome(settings.credentials_file, machine);
    const pair = parseCredentials(readSecretFile(path), settings.profile);
    if (pair !== null) return pair;
    const hint = 'Add aws_access_key_id and aws_secret_access_key below its heading.';
    throw notConfiguredError(`${path} has no keys for the profile "${settings.profile}"`, { hint });
  }
  if (machine.env.AWS_SESSION_TOKEN)
    throw notConfiguredError('temporary keys (AWS_SESSION_TOKEN) are not supported', {
      hint: 'Use the keys of a user that may only list, read and write this bucket.',
    });
  if (accessKeyId && secretAccessKey) return { accessKeyId, secretAccessKey };
  throw notConfiguredError('there are no keys for the object store', {
    hint: 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a file: credentials_file in the address of a remote, or under publish.s3 in your config.toml.',
  });
}

/** A profile of a file like `~/.aws/credentials`; null when it is missing or incomplete. */
export function parseCredentials(text: string, profile: string): KeyPair | null {
  const found = new Map<string, string>();
  let section = '';
  for (const line of text.split(/\r?\n/)) {
    const [, heading] = /^\s*\[\s*(?:profile\s+)?([^\]]*?)\s*\]\s*$/.exec(line) ?? [];
    if (heading !== undefined) section = heading;
    const [, key, value] = /^\s*([A-Za-z_]+)\s*=\s*(\S+)\s*$/.exec(line) ?? [];
    if (section === profile && key !== undefined && value !== undefined) found.set(key.toLowerCase(), value);
  }
  const accessKeyId = found.get('aws_access_key_id');
  const secretAccessKey = found.get('aws_secret_access_key');
  return accessKeyId === undefined || secretAccessKey === undefined ? null : { accessKeyId, secretAccessKey };
}
