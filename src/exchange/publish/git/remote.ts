import { join, resolve } from 'node:path';
import { HandoverError } from '../../../errors.ts';
import { quoteForShell } from '../../../model/text.ts';
import { removeFile, writeFileDurably } from '../../../platform/durable-file.ts';
import type { Env } from '../../../platform/machine.ts';
import type { GitSettings } from '../../../platform/publish-settings.ts';
import { findCommit } from './refs.ts';
import { type Extra, ensureWorkFolder, errorLineOf, git, listGit, type Repo } from './repository.ts';
import { describeUpstream, hideUpstreamIn, type Upstream } from './target.ts';

/** The fetched branch, until it is merged. */
export const FETCHED = 'refs/agent-handover/fetched';

/** Timeouts that end a hanging git even if this process is gone. */
const TIMEOUT_SETTINGS = ['http.lowSpeedLimit=1', 'http.lowSpeedTime=20', 'credential.interactive=false'];
const SSH_OPTIONS = '-o BatchMode=yes -o ConnectTimeout=15 -o ServerAliveInterval=10 -o ServerAliveCountMax=2';
const PASSED_ON = ['GIT_SSH', 'GIT_SSH_VARIANT', 'GIT_SSL_CAINFO', 'GIT_SSL_CAPATH', 'GIT_PROXY_COMMAND'];

/** Neither git nor ssh nor a credential window may prompt. */
function makeRemoteEnv(repo: Repo): Env {
  const { env } = repo.machine;
  const passed = Object.fromEntries(PASSED_ON.flatMap((key) => (env[key] ? [[key, env[key]]] : [])));
  const configured = git(repo, ['config', '--get', 'core.sshCommand']).stdout.toString('utf8').trim();
  const ssh = env.GIT_SSH_COMMAND || configured || (env.GIT_SSH ? '' : 'ssh');
  const command: Env = ssh === '' ? {} : { GIT_SSH_COMMAND: `${ssh} ${SSH_OPTIONS}` };
  return { ...passed, ...command, GIT_ASKPASS: '', GCM_INTERACTIVE: 'never' };
}

function makeRemoteOptions(repo: Repo, { timeout }: GitSettings): Extra {
  const variables = makeRemoteEnv(repo);
  return { contactsRemote: true, timeoutMs: timeout * 1000, settings: TIMEOUT_SETTINGS, variables };
}

/**
 * Makes our own folder, which a publication empties first, that of git's hooks, with nothing in it but a call of the
 * repository's pre-push hook: git would start one for each ref that a push moves as well.
 */
function withPrePush<T>(repo: Repo, push: (setting: string) => T): T {
  // The last one is ours, by which git runs no hook at all.
  const configured = listGit(repo, ['config', '--null', '--type=path', '--get-all', 'core.hooksPath']).at(-2);
  const hook = quoteForShell(resolve(repo.top, configured ?? join(repo.commonDir, 'hooks'), 'pre-push'));
  const folder = ensureWorkFolder(repo);
  const call = join(folder, 'pre-push');
  writeFileDurably(call, `#!/bin/sh\nif test -f ${hook} && test -x ${hook}; then exec ${hook} "$@"; fi\n`, {
    mode: 0o700,
  });
  try {
    return push(`core.hooksPath=${folder}`);
  } finally {
    removeFile(call);
  }
}

/** `moved` when the remote branch has commits that are not here. */
export function pushCommit(
  repo: Repo,
  { commit, upstream }: { commit: string; upstream: Upstream },
  settings: GitSettings,
): 'pushed' | 'moved' {
  const where = describeUpstream(repo, upstream);
  const options = ['--porcelain', '--no-signed', '--no-follow-tags', '--recurse-submodules=no'];
  const args = ['push', ...options, '--', upstream.remote, `${commit}:${upstream.ref}`];
  const extra = makeRemoteOptions(repo, settings);
  const push = (...more: string[]): Answer =>
    contact(repo, args, { ...extra, settings: [...TIMEOUT_SETTINGS, ...more] }, upstream);
  const result = settings.hooks ? withPrePush(repo, push) : push();
  if (result.status === 0) return 'pushed';
  const refusal = parsePushAnswers(result.stdout).find(({ flag }) => flag === '!');
  if (refusal !== undefined && MOVED.test(refusal.summary)) return 'moved';
  const data = { stderr: result.stderr };
  if (refusal !== undefined)
    throw new HandoverError('HANDOVER_REMOTE_REFUSED', `${where} refused the push: ${refusal.summary}`, {
      hint: 'The commit is kept, and the next try pushes it. --json shows what the remote said.',
      data,
    });
  if (result.status !== 1) throw contactError(where, result);
  const said = result.stderr.trim().split('\n', 1)[0]?.trim() ?? '';
  throw new HandoverError('HANDOVER_GIT_HOOK_FAILED', `the pre-push hook stopped the push to ${where}: ${said}`, {
    hint: 'Fix what the hook complains about and publish again, or set hooks = false below [publish.git] in your config.toml.',
    data,
  });
}

/** The branch has moved, or is being moved right now. */
const MOVED =
  /^\[rejected\] \((?:fetch first|non-fast-forward)\)|^\[remote rejected\] \((?:cannot lock ref|failed to (?:update|lock)|incorrect old value|reference already exists)/;

/** Parses the lines of `git push --porcelain`: flag, refs, summary. */
export function parsePushAnswers(text: string): { flag: string; summary: string }[] {
  return text.split('\n').flatMap((line) => {
    const [, flag, summary] = /^([ +*=!-])\t[^\t]+\t(.+)$/.exec(line) ?? [];
    return flag === undefined || summary === undefined ? [] : [{ flag, summary }];
  });
}

/** The remote branch's present commit; null when there is no such branch. */
export function fetchCommit(repo: Repo, upstream: Upstream, settings: GitSettings): string | null {
  const where = describeUpstream(repo, upstream);
  const quiet = ['--quiet', '--no-tags', '--no-recurse-submodules'];
  const options = [...quiet, '--no-auto-maintenance', '--no-write-fetch-head'];
  const args = ['fetch', ...options, '--', upstream.remote, `+${upstream.ref}:${FETCHED}`];
  const result = contact(repo, args, makeRemoteOptions(repo, settings), upstream);
  if (result.status === 0) return findCommit(repo, FETCHED);
  if (/couldn't find remote ref/.test(result.stderr)) return null;
  throw contactError(where, result);
}

/** What git said may be shown: no address in it has credentials. */
type Answer = { status: number | null; stdout: string; stderr: string };

function contact(repo: Repo, args: readonly string[], extra: Extra, upstream: Upstream): Answer {
  try {
    const { status, stdout, stderr } = git(repo, args, extra);
    if (status === 0) return { status, stdout: '', stderr: '' };
    const hide = (text: string): string => hideUpstreamIn(repo, upstream, text);
    return { status, stdout: hide(stdout.toString('utf8')), stderr: hide(stderr) };
  } catch (cause) {
    if (!(cause instanceof HandoverError) || cause.code !== 'HANDOVER_PROGRAM_TIMEOUT') throw cause;
    const message = `${describeUpstream(repo, upstream)} did not answer in time`;
    throw new HandoverError('HANDOVER_REMOTE_UNREACHABLE', message, { hint: NOT_LOST, cause });
  }
}

const NOT_LOST = 'Nothing is lost: the next try pushes what was committed. Try again when the network is back.';

/** Git has no exit statuses for these; it is run with English messages. */
const ACCESS_DENIED =
  /Authentication failed|could not read (?:Username|Password)|Permission denied|terminal prompts disabled|Host key verification failed|returned error: 40[13]/;

/** Ssh says why before git says that it failed. */
function reasonOf(stderr: string): string {
  const line = errorLineOf(stderr);
  const [before] = stderr.split('fatal: Could not read from remote repository');
  const said = before === stderr ? undefined : before?.trim().split('\n').at(-1)?.trim();
  return said || line;
}

function contactError(where: string, { status, stderr }: Answer): HandoverError {
  const data = { status, stderr };
  const said = reasonOf(stderr);
  if (ACCESS_DENIED.test(stderr))
    return new HandoverError('HANDOVER_REMOTE_REFUSED', `${where} denied access: ${said}`, {
      hint: 'Log in once by hand so that git need not ask (a credential helper, or a key in the ssh agent), and publish again. The commit is kept.',
      data,
    });
  const message = `${where} cannot be reached: ${said}`;
  return new HandoverError('HANDOVER_REMOTE_UNREACHABLE', message, { hint: NOT_LOST, data });
}
