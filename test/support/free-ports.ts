import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ports that the system gives out by itself, so that nobody gets one of these by chance before it is used. */
const [LOWEST, HIGHEST] = [12_000, 30_000];

/** Ports of loopback that nothing listens at, all of them different. */
export async function findFreePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
