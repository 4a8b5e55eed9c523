import { HandoverError } from '../errors.ts';

export interface HttpRequest {
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  body?: string;
  timeoutMs: number;
}

export interface HttpAnswer {
  status: number;
  /** The first characters of what was answered. */
  text: string;
}

const MAX_CHARACTERS = 2000;

/** One request. No redirection is followed: it could lead what is sent to somebody else. */
export async function sendRequest(url: URL, { timeoutMs, ...request }: HttpRequest): Promise<HttpAnswer> {
  const fetchOnce = limitFetch(timeoutMs);
  const answer = await fetchOnce(url, request);
  return { status: answer.status, text: (await answer.text()).slice(0, MAX_CHARACTERS) };
}

/** `fetch` with a time limit over all of the answer, without redirections, and with a coded error for a failing network. */
export function limitFetch(timeoutMs: number): typeof fetch {
  return async (input, init) => {
    const url = describeUrl(input);
    try {
      const answer = await fetch(input, {
        ...init,
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      });
      const bytes = answer.body === null ? null : await answer.arrayBuffer();
      return new Response(bytes, { status: answer.status, headers: answer.headers });
    } catch (cause) {
      throw explainFailure(cause, url, timeoutMs);
    }
  };
}

function explainFailure(cause: unknown, url: string, timeoutMs: number): unknown {
  if (!(cause instanceof Error)) return cause;
  const isTimeout = cause.name === 'TimeoutError' || cause.name === 'AbortError';
  if (!isTimeout && !(cause instanceof TypeError)) return cause;
  const why = isTimeout ? `did not answer within ${timeoutMs} ms` : 'cannot be reached';
  return new HandoverError('HANDOVER_REMOTE_UNREACHABLE', `${url} ${why}`, {
    hint: 'Nothing is lost: try again when the network is there.',
    cause,
  });
}

/** Without the query, which may hold a signature. */
function describeUrl(input: string | URL | Request): string {
  const { origin, pathname } = new URL(input instanceof Request ? input.url : input);
  return `${origin}${pathname}`;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** A URL to send secrets to: encrypted, unless it stays on this machine. Null for what is none. */
export function parseSafeUrl(text: string): URL | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname));
  return isSafe && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
    ? url
    : null;
}
