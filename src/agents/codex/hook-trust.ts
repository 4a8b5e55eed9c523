import { join } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import * as v from 'valibot';
import { readHead } from '../../platform/external-file.ts';
import type { HookTrust } from '../hook-setup.ts';

/**
 * Codex skips every hook, without a word, until the user has looked at it. The note of that is bound to the hook by a
 * hash that Codex alone makes, and trusting ourselves in the user's name would defeat what it is for: so it is read,
 * and never written.
 */
export const codexHookTrust: HookTrust = {
  step: 'start codex, and where it says "Hooks need review", look at them and choose to trust; /hooks shows them later',
  readNoted: readNotedTrust,
  nameKey: (file, { event, group, index }) => `${file}:${toSnakeCase(event)}:${group}:${index}`,
};

const MAX_BYTES = 4 * 1024 * 1024;

const stateSchema = v.object({
  hooks: v.object({
    state: v.record(
      v.string(),
      v.object({ trusted_hash: v.optional(v.string()), enabled: v.optional(v.boolean()) }),
    ),
  }),
});

/** A file that cannot be understood notes nothing. */
function readNotedTrust(home: string): Map<string, string> {
  const text = readHead(join(home, 'config.toml'), MAX_BYTES)?.bytes.toString('utf8') ?? '';
  const config = v.safeParse(stateSchema, parseToml(text));
  const noted = new Map<string, string>();
  if (!config.success) return noted;
  for (const [key, { trusted_hash: hash, enabled }] of Object.entries(config.output.hooks.state)) {
    if (hash !== undefined && enabled !== false) noted.set(key, hash);
  }
  return noted;
}

function parseToml(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return null;
  }
}

function toSnakeCase(name: string): string {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase();
}
