import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Loopback, openLoopback, readBody } from './loopback.ts';

export const S3_KEYS = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
export const BUCKET = 'handovers';

export interface S3Server extends Loopback {
  objects: Map<string, Buffer>;
  /** Every request that was made: method and path. */
  requests: string[];
  /** Answers the next requests with this status instead. */
  failWith: number | null;
  /** Some servers write over what is there, whatever they are asked. */
  honoursConditions: boolean;
  /** Called before a write is judged, so that another writer can come in between. */
  beforeWrite: () => void;
}

/**
 * As much of S3 as is needed to publish, by its documentation: objects addressed by path, listing in pages of two,
 * signatures of version 4 that are checked, and conditional writes.
 */
export async function openS3Server(): Promise<S3Server> {
  const objects = new Map<string, Buffer>();
  const loopback = await openLoopback((request, response) => {
    void answer(server, request, response);
  });
  const server: S3Server = {
    ...loopback,
    objects,
    requests: [],
    failWith: null,
    honoursConditions: true,
    beforeWrite: () => undefined,
  };
  return server;
}

async function answer(server: S3Server, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readBody(request);
  const url = new URL(request.url ?? '/', 'http://127.0.0.1');
  server.requests.push(`${request.method} ${url.pathname}`);
  const fail = (status: number, code: string): void => {
    response.writeHead(status, { 'content-type': 'application/xml' });
    response.end(`<Error><Code>${code}</Code></Error>`);
  };
  if (server.failWith !== null) return fail(server.failWith, 'Failing');
  if (!isSigned(request, url)) return fail(403, 'SignatureDoesNotMatch');
  const [, bucket, ...rest] = url.pathname.split('/');
  if (bucket !== BUCKET) return fail(404, 'NoSuchBucket');
  const key = decodeURIComponent(rest.join('/'));
  if (key === '') return void response.writeHead(200, { 'content-type': 'application/xml' }).end(list(server, url));
  if (request.method === 'PUT') {
    server.beforeWrite();
    const there = server.objects.get(key);
    const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
    if (ifNoneMatch === '*' && there !== undefined && server.honoursConditions) return fail(412, 'PreconditionFailed');
    if (ifMatch !== undefined && there === undefined) return fail(404, 'NoSuchKey');
    if (ifMatch !== undefined && there !== undefined && ifMatch !== etagOf(there))
      return fail(412, 'PreconditionFailed');
    server.objects.set(key, body);
    return void response.writeHead(200, { etag: etagOf(body) }).end();
  }
  if (request.method === 'DELETE') {
    server.objects.delete(key);
    return void response.writeHead(204).end();
  }
  const there = server.objects.get(key);
  if (there === undefined) return fail(404, 'NoSuchKey');
  response.writeHead(200, { etag: etagOf(there) }).end(there);
}

function etagOf(bytes: Buffer): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`;
}

const PAGE = 2;

function list({ objects }: S3Server, url: URL): string {
  const prefix = url.searchParams.get('prefix') ?? '';
  const after = Buffer.from(url.searchParams.get('continuation-token') ?? '', 'base64').toString('utf8');
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const page = keys.slice(0, PAGE);
  const more =
    keys.length > PAGE
      ? `<NextContinuationToken>${Buffer.from(page.at(-1) ?? '').toString('base64')}</NextContinuationToken>`
      : '';
  const contents = page.map((key) => {
    const bytes = objects.get(key) ?? Buffer.of();
    return `<Contents><Key>${escapeXml(key)}</Key><ETag>${escapeXml(etagOf(bytes))}</ETag><Size>${bytes.length}</Size></Contents>`;
  });
  return `<?xml version="1.0"?><ListBucketResult><IsTruncated>${keys.length > PAGE}</IsTruncated>${more}<KeyCount>${page.length}</KeyCount>${contents.join('')}</ListBucketResult>`;
}

/** With numbers for quotes, as stores written in Go have them. */
function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&#34;')
    .replaceAll("'", '&#39;');
}

/** The check of AWS Signature Version 4, written from its description. */
function isSigned(request: IncomingMessage, url: URL): boolean {
  const header = request.headers.authorization ?? '';
  const [, id, date, region, service, signed, signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      header,
    ) ?? [];
  if (id !== S3_KEYS.id || !date || !region || service !== 's3' || !signed || !signature) return false;
  const names = signed.split(';');
  const conditions = ['if-match', 'if-none-match'].filter((name) => request.headers[name] !== undefined);
  if (!['host', 'x-amz-date', ...conditions].every((name) => names.includes(name))) return false;
  const query = [...url.searchParams]
    .map(([key, value]) => `${encode(key)}=${encode(value)}`)
    .sort()
    .join('&');
  const canonical = [
    request.method,
    url.pathname,
    query,
    ...names.map((name) => `${name}:${String(request.headers[name]).trim()}`),
    '',
    signed,
    String(request.headers['x-amz-content-sha256']),
  ].join('\n');
  const toSign = [
    'AWS4-HMAC-SHA256',
    String(request.headers['x-amz-date']),
    `${date}/${region}/s3/aws4_request`,
    createHash('sha256').update(canonical).digest('hex'),
  ].join('\n');
  const key = [date, region, 's3', 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    `AWS4${S3_KEYS.secret}`,
  );
  return createHmac('sha256', key).update(toSign).digest('hex') === signature;
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}
