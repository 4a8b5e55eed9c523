import * as v from 'valibot';
import { type Loopback, openLoopback, readBody } from './loopback.ts';

export interface VaultServer extends Loopback {
  values: Map<string, string>;
  /** The bodies that were posted, also those that were refused. */
  posts: string[];
  failWith: number | null;
  /** Takes requests and never answers. */
  stalls: boolean;
}

export const TOKEN = 'mv_live_0123456789';

const Body = v.strictObject({
  key: v.string(),
  value: v.string(),
  tags: v.optional(v.array(v.string())),
  public: v.optional(v.boolean()),
});

/** A MemoryVault that takes `POST /store` from whoever has the token. */
export async function openVaultServer(): Promise<VaultServer> {
  const loopback = await openLoopback((request, response) => {
    void readBody(request).then((bytes) => {
      server.posts.push(bytes.toString('utf8'));
      if (server.stalls) return;
      if (server.failWith !== null) return void response.writeHead(server.failWith, { location: '/x' }).end();
      if (request.headers.authorization !== `Bearer ${TOKEN}`) return void response.writeHead(401).end();
      if (request.method !== 'POST' || request.url !== '/api/store') return void response.writeHead(404).end();
      const body = v.safeParse(Body, JSON.parse(bytes.toString('utf8')));
      if (!body.success || body.output.public === true) return void response.writeHead(400).end();
      server.values.set(body.output.key, body.output.value);
      response.writeHead(201, { 'content-type': 'application/json' }).end('{"ok":true}');
    });
  });
  const server: VaultServer = { ...loopback, values: new Map(), posts: [], failWith: null, stalls: false };
  return server;
}
