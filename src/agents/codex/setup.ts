import { join } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import * as v from 'valibot';
import { catchError } from '../../errors.ts';
import { readHead } from '../../platform/external-file.ts';
import * as setup from '../hook-setup.ts';
import { findAgentHome } from '../shared/files.ts';

/** Codex limits the timeout of these events, whatever the settings ask for. */
const SHORT_EVENTS = ['SessionEnd', 'Interrupt'];
const SHORT_SECONDS = 3;

/** Without this, Codex would cut a brief in its middle; a brief has a budget of its own. */
const UNLIMITED = { additionalContextLimit: 0 };

/**
 * Codex runs a hook only after the user has reviewed it, and then stores a hash of it in `config.toml` under
 * `hooks.state`. We read these hashes to say whether the review is done, and never write them: that would bypass it.
 */
const trust: setup.HookTrust = {
  step: 'start codex, review the hooks where it says "Hooks need review", and choose to trust them; /hooks shows them later',
  readNoted: readTrustedHashes,
  nameKey: (file, { event, group, index }) => {
    const snake = event.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase();
    return `${file}:${snake}:${group}:${index}`;
  },
};

export const codexHookHost: setup.HookHost = {
  agent: 'codex',
  title: 'Codex',
  program: 'codex',
  findHome: (machine) => findAgentHome('codex', machine),
  projectFolder: '.codex',
  trust,
  listFiles: ({ folder, launcher }) => [
    setup.describeEntries('codex', join(folder, 'hooks.json'), {
      form: 'grouped',
      handlers: setup.makeHandlers('codex', launcher, ({ event, moment, command }) => ({
        type: 'command',
        command,
        timeout: SHORT_EVENTS.includes(event) ? SHORT_SECONDS : setup.TIMEOUT_SECONDS,
        ...(moment === 'start' || moment === 'prompt' ? UNLIMITED : {}),
      })),
    }),
    {
      kind: 'table',
      agent: 'codex',
      path: join(folder, 'config.toml'),
      section: 'mcp_servers',
      value: { ...setup.makeServerCommand(launcher, 'codex') },
    },
  ],
};

const MAX_CONFIG_BYTES = 4 * 1024 * 1024;

const stateSchema = v.object({
  hooks: v.object({
    state: v.record(v.string(), v.object({ trusted_hash: v.optional(v.string()), enabled: v.optional(v.boolean()) })),
  }),
});

/** Empty when the settings cannot be parsed. */
function readTrustedHashes(home: string): Map<string, string> {
  const text = readHead(join(home, 'config.toml'), MAX_CONFIG_BYTES)?.bytes.toString('utf8') ?? '';
  const parsed = catchError(TomlError, null, () => parse(text));
  const config = v.safeParse(stateSchema, parsed);
  const hashes = new Map<string, string>();
  if (!config.success) return hashes;
  for (const [key, { trusted_hash: hash, enabled }] of Object.entries(config.output.hooks.state)) {
    if (hash !== undefined && enabled !== false) hashes.set(key, hash);
  }
  return hashes;
}
