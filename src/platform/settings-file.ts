import { dirname, join } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import * as v from 'valibot';
import { HandoverError } from '../errors.ts';
import { readHead, statFile } from './external-file.ts';
import { pathExists } from './folders.ts';
import type { Machine } from './machine.ts';
import { pathOfProjectConfig, pathOfUserConfig } from './paths.ts';

/** A file of settings: each feature checks its own section. */
export interface ConfigFile {
  path: string;
  sections: ReadonlyMap<string, unknown>;
}

const MAX_BYTES = 1024 * 1024;

/** The user's own settings. */
export function readUserConfig(machine: Machine): ConfigFile {
  return readConfigFile(pathOfUserConfig(machine));
}

/** The settings in a project. The repository's authors wrote them: they may narrow what a feature does, never widen it. */
export function readProjectConfig(root: string): ConfigFile {
  return readConfigFile(pathOfProjectConfig(root));
}

/** The settings of a folder's project: of the first folder upwards that has some or is a repository. */
export function readNearestConfig(folder: string): ConfigFile {
  for (let at = folder; ; at = dirname(at)) {
    const config = readProjectConfig(at);
    if (config.sections.size > 0 || pathExists(join(at, '.git')) || dirname(at) === at) return config;
  }
}

/** The files read so far: each is parsed once, as long as it does not change. */
const PARSED = new Map<string, { version: string; file: ConfigFile }>();

/** A missing file has no sections. */
export function readConfigFile(path: string): ConfigFile {
  const version = JSON.stringify(statFile(path));
  const known = PARSED.get(path);
  if (known?.version === version) return known.file;
  const head = readHead(path, MAX_BYTES);
  if (head !== null && head.size > MAX_BYTES) throw configError(path, `is larger than ${MAX_BYTES} bytes`);
  const content = head === null ? {} : parseToml(path, head.bytes.toString('utf8'));
  const file = { path, sections: new Map(Object.entries(content)) };
  PARSED.set(path, { version, file });
  return file;
}

/** A section, checked by its schema; a missing one counts as empty. */
export function parseSection<Schema extends v.GenericSchema>(
  { path, sections }: ConfigFile,
  name: string,
  schema: Schema,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, sections.get(name) ?? {});
  if (result.success) return result.output;
  const [issue] = result.issues;
  const place = [name, v.getDotPath(issue)].filter((part) => part !== null).join('.');
  if (issue.expected === 'never') throw configError(path, `has ${place}, which is unknown`);
  throw configError(path, `has a wrong value: ${place}: ${issue.message}`);
}

function parseToml(path: string, text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    throw configError(path, `is not TOML at line ${cause.line}, column ${cause.column}`, cause);
  }
}

export function configError(path: string, wrong: string, cause?: unknown): HandoverError {
  return new HandoverError('HANDOVER_CONFIG_INVALID', `${path} ${wrong}`, {
    hint: 'Fix the file, or move it away to continue without these settings.',
    cause,
  });
}
