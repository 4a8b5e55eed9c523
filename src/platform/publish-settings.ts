import * as v from 'valibot';
import { HandoverError } from '../errors.ts';
import type { Machine } from './machine.ts';
import { parseSection, readProjectConfig, readUserConfig } from './settings-file.ts';

const Backend = v.picklist(['none', 'git', 's3', 'memoryvault', 'folder']);
export type Backend = v.InferOutput<typeof Backend>;

/** The folder of memory, and the three documents. */
export const DEFAULT_PATHS: string[] = ['memory', 'SOUL.md', 'MEMORY.md', 'HANDOFF.md'];

const Text = v.pipe(v.string(), v.minLength(1), v.maxLength(1000));
const matching = (pattern: RegExp, wrong: string) => v.pipe(v.string(), v.regex(pattern, wrong));

/** Relative to the project, with forward slashes. Hidden folders, which hold settings, are excluded. */
const ProjectPath = matching(
  /^(?![-:])[^/.\\\p{Cc}][^/\\\p{Cc}]*(?:\/[^/.\\\p{Cc}][^/\\\p{Cc}]*)*$/u,
  'is not a path inside a project',
);

export function isProjectPath(path: string): boolean {
  return v.is(ProjectPath, path);
}

/** Paths from a program. Trailing slashes are removed. */
export function acceptPaths(given: readonly string[]): string[] {
  const paths = given.map((path) => path.replace(/\/+$/, ''));
  const wrong = paths.find((path) => !isProjectPath(path));
  if (wrong === undefined) return paths;
  const hint = 'Published paths are inside the project, and no part of them starts with a dot.';
  throw new HandoverError('HANDOVER_PATH_UNSAFE', `"${wrong}" is not a path inside the project`, { hint });
}

const Seconds = v.pipe(v.number(), v.minValue(1), v.maxValue(600));

const GitSettings = v.strictObject({
  /** A dedicated branch, such as `refs/heads/memory`; the current branch if left out. */
  ref: v.exactOptional(matching(/^refs\/heads\/[A-Za-z0-9][\w./-]{0,200}$/, 'is not the full name of a branch')),
  /** For a branch without an upstream. */
  remote: v.exactOptional(matching(/^[A-Za-z0-9][\w./-]{0,100}$/, 'is not the name of a remote')),
  push: v.optional(v.boolean(), true),
  /** Whether pushing runs the repository's pre-push hook. */
  hooks: v.optional(v.boolean(), true),
  /** Whether unpushed commits of the user may be pushed along. */
  own_commits: v.optional(v.picklist(['refuse', 'push']), 'refuse'),
  message: v.exactOptional(Text),
  timeout: v.optional(Seconds, 25),
});
export type GitSettings = v.InferOutput<typeof GitSettings>;

/** Settings from a program. */
export function parseGitSettings(settings: v.InferInput<typeof GitSettings>): GitSettings {
  return parseSettings(GitSettings, settings);
}

function parseSettings<Schema extends v.GenericSchema>(schema: Schema, settings: unknown): v.InferOutput<Schema> {
  const result = v.safeParse(schema, settings);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const message = `${v.getDotPath(issue) ?? 'a setting'}: ${issue.message}`;
  throw new HandoverError('HANDOVER_INPUT_INVALID', message, { hint: 'See docs/publishing.md for what it may be.' });
}

const S3Settings = v.strictObject({
  endpoint: Text,
  bucket: matching(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'is not the name of a bucket'),
  region: v.optional(Text, 'auto'),
  prefix: v.optional(matching(/^\w[\w.-]*(?:\/\w[\w.-]*)*$/, 'is not a prefix of plain letters'), 'agent-handover'),
  /** In the format of `~/.aws/credentials`; the environment is used if left out. */
  credentials_file: v.exactOptional(Text),
  profile: v.optional(Text, 'default'),
  timeout: v.optional(Seconds, 25),
});
export type S3Settings = v.InferOutput<typeof S3Settings>;

/** Settings in the address of a remote. */
export function parseS3Settings(settings: Readonly<Record<string, string>>): S3Settings {
  return parseSettings(S3Settings, settings);
}

const MemoryVaultSettings = v.strictObject({
  url: v.exactOptional(Text),
  token_file: v.exactOptional(Text),
  timeout: v.optional(Seconds, 25),
});
export type MemoryVaultSettings = v.InferOutput<typeof MemoryVaultSettings>;

const UserSection = v.strictObject({
  enabled: v.optional(v.boolean(), true),
  backend: v.exactOptional(Backend),
  paths: v.optional(v.array(ProjectPath), DEFAULT_PATHS),
  git: v.optional(GitSettings, {}),
  s3: v.exactOptional(S3Settings),
  memoryvault: v.optional(MemoryVaultSettings, {}),
  folder: v.exactOptional(v.strictObject({ path: Text })),
});
export type PublishSettings = v.InferOutput<typeof UserSection>;

/** A project's own file is untrusted: it can only switch publishing off. */
const ProjectSection = v.strictObject({ enabled: v.optional(v.boolean(), true) });

/** `root` is the project's folder. */
export function readPublishSettings(root: string, machine: Machine): PublishSettings {
  const settings = parseSection(readUserConfig(machine), 'publish', UserSection);
  const { enabled } = parseSection(readProjectConfig(root), 'publish', ProjectSection);
  return { ...settings, enabled: settings.enabled && enabled };
}
