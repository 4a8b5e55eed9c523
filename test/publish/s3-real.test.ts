import { S3mini } from 's3mini';
import { it } from 'vitest';
import { testPublisher } from '../conformance/publisher.ts';
import { makeDesk } from '../support/cli.ts';
import { configure } from '../support/publishing.ts';

/*
 * The same suite on a server that somebody else wrote: HANDOVER_TEST_S3 is its address, with a key in
 * AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Buckets are made there.
 */
const endpoint = process.env.HANDOVER_TEST_S3;
const accessKeyId = process.env.AWS_ACCESS_KEY_ID ?? '';
const secretAccessKey = process.env.AWS_SECRET_ACCESS_KEY ?? '';

if (endpoint === undefined) it.skip('needs HANDOVER_TEST_S3');
else {
  let count = 0;
  testPublisher('a real S3-compatible server', async () => {
    const bucket = `handover-test-${process.pid}-${++count}`;
    const region = 'eu-central-1';
    const s3 = new S3mini({ accessKeyId, secretAccessKey, endpoint: `${endpoint}/${bucket}`, region });
    await s3.createBucket();
    const made = makeDesk();
    const env = {
      ...made.machine.env,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
    };
    const desk = { ...made, machine: { ...made.machine, env } };
    const point = (url: string): void =>
      configure(
        desk,
        `[publish]\nbackend = "s3"\n[publish.s3]\nendpoint = "${url}"\nbucket = "${bucket}"\nregion = "${region}"\n`,
      );
    point(endpoint);
    const prefix = 'agent-handover/app/';
    return {
      desk,
      read: async () => {
        const found = new Map<string, string>();
        for (const { Key } of (await s3.listObjects('/', prefix)) ?? [])
          found.set(Key.slice(prefix.length), (await s3.getObject(Key)) ?? '');
        return found;
      },
      writeAsOther: async (path, text) => void (await s3.putObject(prefix + path, text)),
      cutOff: async () => point('http://127.0.0.1:1'),
      reconnect: async () => point(endpoint),
    };
  });
}
