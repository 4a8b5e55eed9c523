import { randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/model/event.ts';
import { redactEvent } from '../../src/redact/redact-event.ts';
import type { Redactor } from '../../src/redact/redactor.ts';
import { fillTemplate, rollDice } from '../fixtures/secrets/write-secrets.ts';
import { makeRedactor } from '../support/redactor.ts';

const seed = randomInt(2 ** 31);
const dice = rollDice(seed);
/** Letters and digits in turn, so that no chance makes a word or a filler of it. */
const writeRandom = (): string => fillTemplate('{L1}{d1}'.repeat(9), dice);
const place = { at: null, ref: { line: 1, id: null } };

/** What is kept of the output of a command. */
function run(redactor: Redactor, command: string, output: string): string {
  const action = { kind: 'command', command, background: false } as const;
  redactEvent({ type: 'call', ...place, call: 'a', tool: 'Bash', action }, redactor);
  const result: Event = { type: 'result', ...place, call: 'a', ok: true, exit: 0, output };
  const redacted = redactEvent(result, redactor);
  return redacted.type === 'result' ? redacted.output : '';
}

describe('a file that is a secret by its name', () => {
  const read = (redactor: Redactor, path: string, output: string): string => {
    redactEvent({ type: 'call', ...place, call: 'a', tool: 'Read', action: { kind: 'read', path } }, redactor);
    const redacted = redactEvent({ type: 'result', ...place, call: 'a', ok: true, exit: 0, output }, redactor);
    return redacted.type === 'result' ? redacted.output : '';
  };

  it.each([
    ['/run/secrets/db_password', ''],
    ['/run/secrets/x', '     1\t'],
    ['config/api_token.txt', '1→'],
  ])('is redacted where it is read: %s', (path, mark) => {
    const secret = writeRandom();
    expect(read(makeRedactor(), path, `${mark}${secret}\n`), `seed ${seed}`).not.toContain(secret);
    expect(run(makeRedactor(), `cat ${path}`, `${secret}\n`), `seed ${seed}`).not.toContain(secret);
  });

  it('is not taken for one because of another name', () => {
    const word = writeRandom();
    expect(read(makeRedactor(), 'src/shop.ts', `${word}\n`)).toBe(`${word}\n`);
  });
});

it('the name of a tool holds no token', () => {
  const token = `ghp_${fillTemplate('{A36}', dice)}`;
  const call: Event = {
    ...{ type: 'call', ...place, call: 'a', tool: token },
    action: { kind: 'command', command: 'ls', background: false },
  };
  expect(JSON.stringify(redactEvent(call, makeRedactor())), `seed ${seed}`).not.toContain(token);
});

describe('the output of a command that prints a secret and nothing else', () => {
  it.each([
    "kubectl get secret shop -n web -o jsonpath='{.data.password}' | base64 -d",
    'kubectl -n argocd get secret/a -o go-template="{{.data.x}}"',
    'kubectl create token admin',
    'aws secretsmanager get-secret-value --secret-id shop --query SecretString --output text',
    'aws ssm get-parameter --name /shop/db --with-decryption --query Parameter.Value --output text',
    'aws ecr get-login-password --region eu-central-1',
    'az keyvault secret show --vault-name v -n db --query value -o tsv',
    'gcloud secrets versions access latest --secret=db',
    'gcloud auth print-access-token',
    'gh auth token',
    'vault kv get -field=password secret/shop',
    'op read op://shop/db/password',
    'pass show shop/db',
    'security find-generic-password -s shop -w',
    'terraform output -raw db_password',
    'heroku config:get ADMIN_PASSWORD -a shop',
    'cd infra && echo $DB_PASSWORD',
    'printenv API_TOKEN',
    'ssh web "sudo cat /run/secrets/db_password"',
    'docker exec jenkins cat /var/jenkins_home/secrets/initialAdminPassword',
    "curl -s localhost/login | jq -r '.data.access_token'",
    'openssl rand -base64 32',
  ])('is redacted there and everywhere: %s', (command) => {
    const redactor = makeRedactor();
    const secret = writeRandom();
    expect(run(redactor, command, `${secret}\n`), `seed ${seed}`).toMatch(/^\[redacted:printed-secret:\w{8}\]\s*$/);
    expect(redactor.redactText(`It is ${secret}, is it not?`), `seed ${seed}`).not.toContain(secret);
  });

  it.each([
    ['gh auth token', 'no oauth token found for github.com\n'],
    [
      'kubectl get secret shop -o jsonpath={.data.x}',
      'Error from server (NotFound): secrets "shop-5f6g7h8" not found\n',
    ],
    ['kubectl get secret shop -o yaml', 'name: shop-5f6g7h8\n'],
    ['terraform output -raw cluster_endpoint', 'https://A1B2C3D4E5F6.gr7.eu-central-1.eks.amazonaws.com\n'],
    ['cat src/auth/token.ts', 'export1const2a3b4c5\n'],
    ["jq -r '.version'", '1.2.3-rc4d5e6f7\n'],
    ['echo $DB_HOST', 'db-7f3a9c81d2e4.example.org\n'],
    ['echo $DB_PASSWORD', 'production\n'],
    ['openssl rand -hex 4', '9f3a7c21\n'],
  ])('stays where it is something else: %s', (command, output) => {
    expect(run(makeRedactor(), command, output)).toBe(output);
  });

  it.each([
    [
      'az keyvault secret show -n db --vault-name v',
      '{\n "id": "https://v.example.org/db/1",\n "tags": null,\n "value": "§"\n}\n',
    ],
    [
      'az storage account keys list -n shop',
      '[\n {\n "keyName": "key1",\n "permissions": "FULL",\n "value": "§"\n }\n]\n',
    ],
    [
      'vault kv get secret/shop',
      '== Metadata ==\nKey    Value\n---    -----\ncreated_time    2026-01-31T10:00:00.123456789Z\nversion    1\n\n== Data ==\nKey    Value\n---    -----\nshop   §\n',
    ],
  ])('is redacted where other things are printed with it: %s', (command, output) => {
    const secret = writeRandom();
    const kept = run(makeRedactor(), command, output.replace('§', secret));
    expect(kept.replace(/\[redacted:[\w-]+:\w{8}\]/, '§'), `seed ${seed}`).toBe(output);
  });

  it('is redacted if it comes after the next call', () => {
    const redactor = makeRedactor();
    const secret = writeRandom();
    const action = { kind: 'command', command: 'gh auth token', background: false } as const;
    redactEvent({ type: 'call', ...place, call: 'first', tool: 'Bash', action }, redactor);
    expect(redactor.hasLearnt).toBe(true);
    expect(run(redactor, 'ls', 'a1b2c3d4e5f6a7b8\n')).toBe('a1b2c3d4e5f6a7b8\n');
    const result: Event = { type: 'result', ...place, call: 'first', ok: true, exit: 0, output: secret };
    expect(JSON.stringify(redactEvent(result, redactor)), `seed ${seed}`).not.toContain(secret);
  });
});
