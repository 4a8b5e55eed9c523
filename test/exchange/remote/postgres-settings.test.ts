import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findPassLine, parseSection, readPostgresSettings } from '../../../src/exchange/remote/postgres/settings.ts';
import type { Machine } from '../../../src/platform/machine.ts';
import { makeFolder, makeMachine } from '../../support/temp-store.ts';

function makeUser(env: Record<string, string> = {}, files: Record<string, string> = {}): Machine {
  const machine = makeMachine(makeFolder(), { env: { USER: 'me', ...env } });
  mkdirSync(join(machine.home ?? '', '.postgresql'), { recursive: true });
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(machine.home ?? '', name), text, { mode: 0o600 });
  return machine;
}

function read(url: string, machine: Machine = makeUser()) {
  return readPostgresSettings(new URL(url), machine);
}

describe('where and as whom to log in to PostgreSQL', () => {
  it('is said by the address', () => {
    expect(read('postgres://ann%40x@db.example:6000/hand?team=red&schema=mine&sslmode=require')).toMatchObject({
      host: 'db.example',
      port: 6000,
      database: 'hand',
      user: 'ann@x',
      team: 'red',
      schema: 'mine',
      sslMode: 'require',
      address: 'postgres://db.example:6000/hand?team=red',
    });
  });

  it('is else what libpq would take: the service before the environment, and the usual values last', () => {
    const service = '[other]\nhost=wrong\n[build]\n# a comment\nhost=from-service\nport=7000\n';
    const machine = makeUser(
      { PGSERVICE: 'build', PGHOST: 'from-env', PGDATABASE: 'env-db' },
      { '.pg_service.conf': service },
    );
    expect(read('postgres://', machine)).toMatchObject({
      host: 'from-service',
      port: 7000,
      database: 'env-db',
      user: 'me',
    });
    expect(read('postgresql:///x?service=other', machine)).toMatchObject({ host: 'wrong', port: 5432, database: 'x' });
    expect(read('postgres://')).toMatchObject({
      host: 'localhost',
      database: 'me',
      sslMode: null,
      team: 'default',
      schema: 'agent_handover',
    });
    expect(read('postgres:///x?host=/run/postgresql')).toMatchObject({ host: '/run/postgresql' });
    expect(read('postgres://%2Frun%2Fpostgresql/x')).toMatchObject({ host: '/run/postgresql' });
    expect(read('postgres://[::1]/x')).toMatchObject({ host: '::1' });
  });

  it('never has a password in the address', () => {
    const password = 'correct horse';
    for (const url of [
      `postgres://me:${encodeURIComponent(password)}@h/x`,
      `postgres://h/x?password=${encodeURIComponent(password)}`,
    ]) {
      expect(() => read(url)).toThrow(
        expect.objectContaining({ code: 'HANDOVER_USAGE', hint: expect.stringContaining('PGPASSFILE') }),
      );
      expect(() => read(url)).not.toThrow(/horse/);
    }
  });

  it.each([
    'postgres://h/x?options=-c%20role%3Dadmin',
    'postgres://h/x?sslmode=sometimes',
    'postgres://h/x?sslmode=verify-full',
    'postgres://h/x?sslrootcert=/nowhere/root.crt',
    'postgres://h/x?team=a%2Fb',
    'postgres://h/x?team=',
    'postgres://h/x?schema=%22%3B',
    'postgres://h/x?port=70000',
    'postgres://h/x?host=a,b',
    'postgres://h/x?service=missing',
  ])('%s is refused', (url) => {
    expect(() => read(url)).toThrow(expect.objectContaining({ code: 'HANDOVER_USAGE' }));
  });

  it('uses certificates of ~/.postgresql, and the authorities of the system where that is asked for', () => {
    const machine = makeUser({}, { '.postgresql/root.crt': 'ROOT' });
    expect(read('postgres://h/x?sslmode=verify-full', machine)).toMatchObject({
      sslMode: 'verify-full',
      rootCertificates: 'ROOT',
    });
    expect(read('postgres://h/x?sslrootcert=system', machine)).toMatchObject({
      sslMode: 'verify-full',
      rootCertificates: null,
    });
  });
});

describe('the password for PostgreSQL', () => {
  it('comes from the environment, else from the file of passwords', () => {
    const files = {
      '.pgpass': '# mine\nother:*:*:*:no\nh:5432:x:me:yes\\:it\\\\is\n*:*:*:*:last\n',
      own: 'h:*:*:*:own\n',
    };
    expect(read('postgres://h/x', makeUser({}, files)).findPassword()).toBe('yes:it\\is');
    expect(read('postgres://h/y', makeUser({}, files)).findPassword()).toBe('last');
    expect(read('postgres://h/x', makeUser({ PGPASSWORD: 'env' }, files)).findPassword()).toBe('env');
    expect(read('postgres://h/x', makeUser({ PGPASSFILE: '~/own' }, files)).findPassword()).toBe('own');
    expect(read('postgres://h/x').findPassword()).toBeNull();
    expect(
      read('postgres:///x?host=/run/pg', makeUser({}, { '.pgpass': 'localhost:*:*:*:socket' })).findPassword(),
    ).toBe('socket');
  });

  it('is not read from a file that others can read', () => {
    const machine = makeUser();
    writeFileSync(join(machine.home ?? '', '.pgpass'), '*:*:*:*:shared', { mode: 0o644 });
    expect(() => read('postgres://h/x', machine).findPassword()).toThrow(
      expect.objectContaining({ code: 'HANDOVER_PERMISSION' }),
    );
  });

  it('is found whatever it and the names are made of', () => {
    const escapeField = (text: string): string => text.replaceAll(/[\\:]/g, '\\$&');
    const word = fc
      .string({ minLength: 1 })
      .filter((text) => !/[\r\n]/.test(text) && text !== '*' && !text.startsWith('#'));
    fc.assert(
      fc.property(word, word, word, word, word, (host, port, database, user, password) => {
        const line = [host, port, database, user, password].map(escapeField).join(':');
        expect(findPassLine(`nothing:1:2:3:4\n${line}\n`, { host, port, database, user })).toBe(password);
        expect(findPassLine(line, { host: `${host}x`, port, database, user })).toBeNull();
      }),
    );
  });

  it('and a service are looked for in any text without failing', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (text, name) => {
        findPassLine(text, { host: name, port: '1', database: 'd', user: 'u' });
        expect(parseSection(`${text}\n[a]\nb=c\n`, 'a')?.get('b') ?? 'c').toBe('c');
      }),
    );
  });
});
