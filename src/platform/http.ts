import { HandoverError } from '../errors.ts';

interface HttpRequest {
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  body?: string;
  timeoutMs: number;
  /** What is answered beyond this is not read. */
  maxBytes?: number;
}

const MAX_BYTES = 8 * 1024;

/** Redirections are not followed: they could send secrets to somebody else. `whole` is false when `text` was cut. */
export async function sendRequest(
  url: URL,
  { timeoutMs, maxBytes = MAX_BYTES, ...request }: HttpRequest,
): Promise<{ status: number; text: string; whole: boolean }> {
  return await explainFailures(url, timeoutMs, async (limits) => {
    const { status, body } = await fetch(url, { ...request, ...limits });
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of body ?? []) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxBytes) break;
    }
    const text = Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8');
    return { status, text, whole: size <= maxBytes };
  });
}

/**
 * `fetch` with a limit to time and size of all of the answer, without redirections, and with a coded error for a failing
 * network. Of an answer that is too large no more than the limit is read.
 */
export function limitFetch(timeoutMs: number, maxBytes = Number.POSITIVE_INFINITY): typeof fetch {
  return async (input, init) => {
    return await explainFailures(input, timeoutMs, async (limits) => {
      const answer = await fetch(input, { ...init, ...limits });
      const { status, headers, body } = answer;
      if (body === null) return new Response(null, { status, headers });
      const chunks: Uint8Array<ArrayBuffer>[] = [];
      let size = 0;
      for await (const chunk of body) {
        size += chunk.length;
        if (size > maxBytes) throw answerTooLargeError(maxBytes);
        chunks.push(chunk);
      }
      return new Response(new Blob(chunks), { status, headers });
    });
  };
}

function answerTooLargeError(maxBytes: number): HandoverError {
  return new HandoverError('HANDOVER_TEXT_TOO_LARGE', `an answer is larger than ${maxBytes} bytes, and was not read`);
}

async function explainFailures<T>(
  input: string | URL | Request,
  timeoutMs: number,
  work: (limits: Pick<RequestInit, 'redirect' | 'signal'>) => Promise<T>,
): Promise<T> {
  try {
    return await work({ redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    const isTimeout = cause.name === 'TimeoutError' || cause.name === 'AbortError';
    if (!isTimeout && !(cause instanceof TypeError)) throw cause;
    const why = isTimeout ? `did not answer within ${timeoutMs} ms` : 'cannot be reached';
    // Without the query, which may hold a signature.
    const { origin, pathname } = new URL(input instanceof Request ? input.url : input);
    throw new HandoverError('HANDOVER_REMOTE_UNREACHABLE', `${origin}${pathname} ${why}`, {
      hint: 'Nothing is lost: try again when the network is back.',
      cause,
    });
  }
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** A URL that secrets may be sent to: https, or on this machine. Null for any other. */
export function parseSafeUrl(text: string): URL | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname));
  return isSafe && url.username === '' && url.password === '' && url.search === '' && url.hash === '' ? url : null;
}
