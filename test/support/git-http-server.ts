import { spawn } from 'node:child_process';
import { type Loopback, openLoopback } from './loopback.ts';

export interface GitHttpServer extends Loopback {
  /** Who is let in, as `user:password`; null for everybody. */
  login: string | null;
}

/** Serves the bare repositories in a folder over git's smart HTTP, by git's own program for it. */
export async function openGitHttpServer(folder: string): Promise<GitHttpServer> {
  const loopback = await openLoopback((request, response) => {
    const given = Buffer.from(request.headers.authorization?.replace('Basic ', '') ?? '', 'base64').toString();
    if (server.login !== null && given !== server.login)
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const backend = spawn('git', ['-c', 'http.receivepack=true', 'http-backend'], {
      env: {
        PATH: process.env.PATH,
        GIT_PROJECT_ROOT: folder,
        GIT_HTTP_EXPORT_ALL: '1',
        REQUEST_METHOD: request.method,
        PATH_INFO: url.pathname,
        QUERY_STRING: url.search.slice(1),
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        HTTP_GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
        REMOTE_USER: 'ada',
        REMOTE_ADDR: '127.0.0.1',
      },
    });
    request.pipe(backend.stdin);
    const chunks: Buffer[] = [];
    backend.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    backend.on('close', () => {
      const all = Buffer.concat(chunks);
      const end = all.indexOf('\r\n\r\n');
      const headers = all
        .subarray(0, end)
        .toString()
        .split('\r\n')
        .map((line) => line.split(': '));
      const status = headers.find(([name]) => name === 'Status')?.[1] ?? '200';
      response.writeHead(
        Number.parseInt(status, 10),
        Object.fromEntries(headers.filter(([name]) => name !== 'Status').map(([name, value]) => [name, value ?? ''])),
      );
      response.end(all.subarray(end + 4));
    });
  });
  const server: GitHttpServer = { ...loopback, login: null };
  return server;
}
