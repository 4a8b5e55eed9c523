import { connect, isIP, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import * as tls from 'node:tls';
import { HandoverError, hasErrno } from '../errors.ts';

/** As libpq has them; `allow` is taken for `prefer`. */
export type SslMode = 'disable' | 'allow' | 'prefer' | 'require' | 'verify-ca' | 'verify-full';

export interface PostgresEndpoint {
  /** A name, an address, or the folder of a Unix socket. */
  host: string;
  port: number;
  /** Null where nobody chose one: then nothing is sent in clear to another machine. */
  sslMode: SslMode | null;
  /** In PEM. Null for the authorities that Node trusts. */
  rootCertificates: string | null;
  certificate: { cert: string; key: string } | null;
  timeoutMs: number;
}

const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
const LOCAL = /^(?:\/|localhost$|127\.|::1$)/;
const KEEP_ALIVE_MS = 30_000;

/** Whether nobody is on the way: a Unix socket, or loopback. */
export function isLocal({ host }: Pick<PostgresEndpoint, 'host'>): boolean {
  return LOCAL.test(host);
}

/** A socket to a server of PostgreSQL, encrypted as the mode says. Nothing is read beyond what was asked for. */
export async function openPostgresSocket(endpoint: PostgresEndpoint): Promise<Socket> {
  const { host, port, timeoutMs } = endpoint;
  const isFile = host.startsWith('/');
  const socket = isFile ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  // A failure after the last listener is gone must not end the process.
  socket.on('error', () => socket.destroy());
  const timer = setTimeout(() => socket.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    await waitFor(socket, 'connect');
    socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
    const mode = endpoint.sslMode ?? 'prefer';
    return isFile || mode === 'disable' ? socket : await encrypt(socket, endpoint, mode);
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function encrypt(socket: Socket, endpoint: PostgresEndpoint, mode: SslMode): Promise<Socket> {
  socket.write(SSL_REQUEST);
  const answer = await waitFor(socket, 'data');
  // More than one byte was not asked for: somebody put it before the encrypted part.
  const sign = Buffer.isBuffer(answer) && answer.length === 1 ? answer.toString('latin1') : '';
  if (sign !== 'S' && sign !== 'N') throw new Error('this is not a server of PostgreSQL');
  if (sign === 'S') return await startTls(socket, endpoint, mode);
  if (mode !== 'prefer' && mode !== 'allow')
    throw new HandoverError('HANDOVER_REMOTE_REFUSED', `the server does not encrypt, and sslmode=${mode} asks for it`, {
      hint: 'Turn on ssl in the server.',
    });
  if (endpoint.sslMode === null && !isLocal(endpoint))
    throw new HandoverError('HANDOVER_REMOTE_REFUSED', 'the server does not encrypt: nothing was sent', {
      hint: 'Turn on ssl in the server. On a network that you trust you can add ?sslmode=disable to the address.',
    });
  return socket;
}

async function startTls(socket: Socket, endpoint: PostgresEndpoint, mode: SslMode): Promise<tls.TLSSocket> {
  const { host, rootCertificates: ca, certificate } = endpoint;
  const isVerified = mode === 'verify-ca' || mode === 'verify-full' || (mode === 'require' && ca !== null);
  const secure = tls.connect({
    socket,
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === null ? {} : { ca }),
    ...certificate,
    rejectUnauthorized: isVerified,
    ...(mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  });
  secure.on('error', () => secure.destroy());
  try {
    await waitFor(secure, 'secureConnect');
  } catch (cause) {
    // A network that fails has nothing to do with certificates.
    if (!isErrnoLike(cause) || hasErrno(cause, 'ECONNRESET', 'EPIPE', 'ETIMEDOUT')) throw cause;
    throw new HandoverError('HANDOVER_REMOTE_REFUSED', 'the encrypted connection was not set up', {
      hint: `Check the server's certificate, and sslmode and sslrootcert (here: ${mode}).`,
      cause,
    });
  }
  return secure;
}

function isErrnoLike(error: unknown): boolean {
  return error instanceof Error && 'code' in error;
}

/** What a client reads from and writes to. */
export interface GuardedStream extends Duplex {
  /** For clients that want to connect by themselves. */
  connect(): GuardedStream;
  setNoDelay(): GuardedStream;
  /** How many more bytes may arrive. */
  allow(bytes: number): void;
  /** Ends the connection once nothing was read or written for so long; 0 for never. */
  watch(stalledMs: number): void;
}

/** Ends the connection, and not the process, where more arrives than is allowed, or something that the reader throws on. */
export function guardSocket(
  socket: Socket,
  explain: (what: 'too much' | 'no sense', cause?: unknown) => Error,
): GuardedStream {
  let room = 0;
  const stream = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _, done) => void socket.write(chunk, done),
    final: (done) => void socket.end(done),
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  socket.on('timeout', () => stream.destroy(new Error('nothing arrived in time')));
  socket.on('error', (error) => stream.destroy(error)).on('close', () => stream.destroy());
  socket.on('data', (chunk) => {
    room -= chunk.length;
    if (room < 0) return void stream.destroy(explain('too much'));
    try {
      stream.emit('data', chunk);
    } catch (cause) {
      stream.destroy(explain('no sense', cause));
    }
  });
  const guarded: GuardedStream = Object.assign(stream, {
    connect: () => {
      setImmediate(() => stream.emit('connect'));
      return guarded;
    },
    setNoDelay: () => guarded,
    allow: (bytes: number) => {
      room = bytes;
    },
    watch: (stalledMs: number) => void socket.setTimeout(stalledMs),
  });
  return guarded;
}

/** The first value of an event. Rejects when the socket fails or is closed before it. */
async function waitFor(socket: Socket, event: string): Promise<unknown> {
  return await new Promise((resolve, reject) => {
    const settle = (work: () => void): void => {
      socket.off(event, succeed).off('error', fail).off('close', close);
      work();
    };
    const succeed = (value: unknown): void => settle(() => resolve(value));
    const fail = (error: Error): void => settle(() => reject(error));
    const close = (): void => settle(() => reject(new Error('the connection was closed')));
    socket.once(event, succeed).once('error', fail).once('close', close);
  });
}
