import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { afterEachFile } from './after-each-file.ts';
import { findFreePorts } from './free-ports.ts';

export interface Loopback {
  url: string;
  close(): Promise<void>;
  /** At the same port. */
  reopen(): Promise<void>;
}

const open = new Set<Server>();

afterEachFile(() => {
  for (const server of open) {
    server.closeAllConnections();
    server.close();
  }
});

/** A server that this machine alone can reach. It is closed when the test file is done. */
export async function openLoopback(listener: RequestListener): Promise<Loopback> {
  const [port = 0] = await findFreePorts(1);
  let server = await listen(listener, port);
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      open.delete(server);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
    reopen: async () => {
      server = await listen(listener, port);
    },
  };
}

async function listen(listener: RequestListener, port: number): Promise<Server> {
  const server = createServer(listener);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  open.add(server);
  return server;
}

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
