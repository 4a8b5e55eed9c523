import { dirname, join } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import * as v from 'valibot';
import { HandoverError } from '../errors.ts';
import { readHead } from './external-file.ts';
import { pathExists } from './folders.ts';
import type { Machine } from './machine.ts';
import { pathOfProjectConfig, pathOfUserConfig } from './paths.ts';

/** A file of settings as it was written: each feature knows what its own section may hold. */
export interface ConfigFile {
  path: string;
  sections: ReadonlyMap<string, unknown>;
}

const MAX_BYTES = 1024 * 1024;

/** The user's own settings. They may ask for anything. */
export function readUserConfig(machine: Machine): ConfigFile {
  return readConfigFile(pathOfUserConfig(machine));
}

/**
 * The settings that lie in a project. Whoever wrote the repository wrote them too: a feature may let them narrow what
 * happens, and never widen it.
 */
export function readProjectConfig(root: string): ConfigFile {
  return readConfigFile(pathOfProjectConfig(root));
}

/** The settings of the project that a folder is in: those of the first folder upwards that has some, or is a repository. */
export function readNearestConfig(folder: string): ConfigFile {
  for (let at = folder; ; at = dirname(at)) {
    const config = readProjectConfig(at);
    if (config.sections.size > 0 || pathExists(join(at, '.git')) || dirname(at) === at) return config;
  }
}

/** A file that is not there has no sections. */
export function readConfigFile(path: string): ConfigFile {
  const head = readHead(path, MAX_BYTES);
  if (head === null) return { path, sections: new Map() };
  if (head.size > MAX_BYTES) throw refuseConfig(path, `is larger than ${MAX_BYTES} bytes`);
  return { path, sections: new Map(Object.entries(parseToml(path, head.bytes.toString('utf8')))) };
}

/** The section of that name, as its schema has it; what is not in the file is as if it were empty. */
export function parseSection<Schema extends v.GenericSchema>(
  { path, sections }: ConfigFile,
  name: string,
  schema: Schema,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, sections.get(name) ?? {});
  if (result.success) return result.output;
  const [issue] = result.issues;
  const place = [name, v.getDotPath(issue)].filter((part) => part !== null).join('.');
  if (issue.expected === 'never') throw refuseConfig(path, `has ${place}, which nothing knows of`);
  throw refuseConfig(path, `has a wrong value: ${place}: ${issue.message}`);
}

function parseToml(path: string, text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    throw refuseConfig(path, `is not TOML at line ${cause.line}, column ${cause.column}`, cause);
  }
}

export function refuseConfig(path: string, wrong: string, cause?: unknown): HandoverError {
  return new HandoverError('HANDOVER_CONFIG_INVALID', `${path} ${wrong}`, {
    hint: 'Mend the file, or move it away to go on without these settings.',
    cause,
  });
}
