import { S3mini } from 's3mini';
import { it } from 'vitest';
import { makeSandbox } from '../../support/cli.ts';
import { testPublisher } from '../../support/conformance/publisher.ts';
import { configure } from '../../support/publishing.ts';
import { findRealS3, openRealS3, type RealS3 } from '../../support/real-s3-server.ts';

/*
 * The same suite on a server that somebody else wrote: the one that HANDOVER_TEST_S3 is the address of, with a key in
 * AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, else SeaweedFS. Buckets are made there.
 */
const { HANDOVER_TEST_S3, AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '' } = process.env;
const program = findRealS3();
const region = 'eu-central-1';

async function openServer(): Promise<RealS3> {
  if (HANDOVER_TEST_S3 === undefined) return await openRealS3(program ?? '');
  return {
    endpoint: HANDOVER_TEST_S3,
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
  };
}

if (HANDOVER_TEST_S3 === undefined && program === null)
  it.skip('needs a real S3-compatible server: python3 test/support/fetch-s3-server.py, or HANDOVER_TEST_S3');
else {
  const { endpoint, ...keys } = await openServer();
  let count = 0;
  testPublisher('a real S3-compatible server', async () => {
    const bucket = `handover-test-${process.pid}-${++count}`;
    const s3 = new S3mini({ ...keys, endpoint: `${endpoint}/${bucket}`, region });
    await s3.createBucket();
    const made = makeSandbox();
    const env = {
      ...made.machine.env,
      AWS_ACCESS_KEY_ID: keys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
    };
    const sandbox = { ...made, machine: { ...made.machine, env } };
    const point = (url: string): void =>
      configure(
        sandbox,
        `[publish]\nbackend = "s3"\n[publish.s3]\nendpoint = "${url}"\nbucket = "${bucket}"\nregion = "${region}"\n`,
      );
    point(endpoint);
    const prefix = 'agent-handover/app/';
    return {
      sandbox,
      read: async () => {
        const found = new Map<string, string>();
        for (const { Key } of (await s3.listObjects('/', prefix)) ?? []) {
          const key = Key.replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));
          found.set(key.slice(prefix.length), (await s3.getObject(key)) ?? '');
        }
        return found;
      },
      writeAsOther: async (path, text) => void (await s3.putObject(prefix + path, text)),
      cutOff: async () => point('http://127.0.0.1:1'),
      reconnect: async () => point(endpoint),
    };
  });
}
