import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const shell = process.platform === 'win32';

/** What is needed to install the package from its tarball into a prefix of its own, without the network. */
export interface PackedPackage {
  /** The words after `npm`. */
  install: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  /** Where its programs are once it is installed. */
  programs: string;
  modules: string;
}

export function packPackage(prefix: string): PackedPackage {
  const env = { PATH: process.env.PATH, HOME: prefix, npm_config_cache: join(prefix, 'cache') };
  // Without scripts: the build would replace what other tests are running.
  const pack = ['pack', '--ignore-scripts', '--pack-destination', prefix, '--silent'];
  const tarball = join(prefix, execFileSync('npm', pack, { env, encoding: 'utf8', shell }).trim());
  const flags = ['--prefix', prefix, '--offline', '--omit=optional', '--no-audit', '--no-fund', '--loglevel=error'];
  return {
    install: ['install', '--global', tarball, ...flags],
    env,
    programs: shell ? prefix : join(prefix, 'bin'),
    modules: shell ? join(prefix, 'node_modules') : join(prefix, 'lib', 'node_modules'),
  };
}

export function installPackage(prefix: string): PackedPackage {
  const packed = packPackage(prefix);
  execFileSync('npm', packed.install, { env: packed.env, shell, stdio: 'pipe' });
  return packed;
}
