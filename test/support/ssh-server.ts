import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';

const SSHD = '/usr/sbin/sshd';
const HOST = 'handover.invalid';

/** A real sshd that ssh starts by itself for each connection, so that nothing listens anywhere. */
export interface SshServer {
  /** The URL of a folder here, over ssh. */
  urlOf(folder: string): string;
  /** For `core.sshCommand`. */
  command: string;
  /** Whom ssh takes the server for: empty it, and nobody knows the server. */
  knownHosts: string;
  /** Whom the server lets in. */
  authorizedKeys: string;
}

/** Why there can be none here; null when there can. */
export function findSshTrouble(): string | null {
  if (!existsSync(SSHD)) return `${SSHD} is missing: apt-get install openssh-server`;
  if (userInfo().uid === 0 && !existsSync('/run/sshd')) return '/run/sshd is missing: mkdir /run/sshd';
  return null;
}

export function makeSshServer(folder: string): SshServer {
  const at = (name: string): string => join(folder, name);
  for (const key of ['host-key', 'user-key'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(key)]);
  const server = {
    knownHosts: at('known-hosts'),
    authorizedKeys: at('authorized-keys'),
    urlOf: (path: string) => `ssh://${userInfo().username}@${HOST}${path}`,
  };
  writeFileSync(server.knownHosts, `${HOST} ${readFileSync(at('host-key.pub'), 'utf8')}`);
  writeFileSync(server.authorizedKeys, readFileSync(at('user-key.pub')));
  const settings = [
    `HostKey ${at('host-key')}`,
    `AuthorizedKeysFile ${server.authorizedKeys}`,
    'StrictModes no',
    'UsePAM no',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PermitRootLogin yes',
  ];
  writeFileSync(at('sshd-config'), `${settings.join('\n')}\n`);
  const options = [
    `-o "ProxyCommand=${SSHD} -i -f ${at('sshd-config')} -E ${at('sshd-log')}"`,
    `-o UserKnownHostsFile=${server.knownHosts}`,
    '-o IdentitiesOnly=yes',
  ];
  return { ...server, command: `ssh -F none -i ${at('user-key')} ${options.join(' ')}` };
}
