import type { Command, RouteMap } from '@stricli/core';
import type { CommandName } from '../briefs.ts';
import type { CliContext } from '../context.ts';

/** A command, or commands below a common name. */
export type CliTarget = Command<CliContext> | RouteMap<CliContext>;

/** Every command, loaded only when it is called. */
export const COMMANDS: Readonly<Record<CommandName, () => Promise<CliTarget>>> = {
  save: async () => (await import('./save.ts')).save,
  capture: async () => (await import('./capture.ts')).capture,
  sessions: async () => (await import('./sessions.ts')).sessions,
  list: async () => (await import('./list.ts')).list,
  search: async () => (await import('./search.ts')).searchCommand,
  show: async () => (await import('./show.ts')).show,
  select: async () => (await import('./select.ts')).select,
  why: async () => (await import('./why.ts')).why,
  errors: async () => (await import('./errors.ts')).errors,
  files: async () => (await import('./files.ts')).files,
  timeline: async () => (await import('./timeline.ts')).timeline,
  diff: async () => (await import('./diff.ts')).diff,
  render: async () => (await import('./render.ts')).render,
  resume: async () => (await import('./resume.ts')).resume,
  restore: async () => (await import('./restore.ts')).restore,
  pin: async () => (await import('./mark.ts')).pin,
  unpin: async () => (await import('./mark.ts')).unpin,
  resolve: async () => (await import('./mark.ts')).resolve,
  refute: async () => (await import('./mark.ts')).refute,
  redact: async () => (await import('./redact.ts')).redact,
  snapshot: async () => (await import('./snapshot.ts')).snapshot,
  auto: async () => (await import('./auto.ts')).auto,
  run: async () => (await import('./run.ts')).run,
  check: async () => (await import('./check.ts')).check,
  status: async () => (await import('./status.ts')).status,
  pause: async () => (await import('./pause.ts')).pause,
  unpause: async () => (await import('./pause.ts')).unpause,
  compact: async () => (await import('./compact.ts')).compact,
  push: async () => (await import('./push.ts')).push,
  export: async () => (await import('./export.ts')).exportCommand,
  import: async () => (await import('./import.ts')).importCommand,
  keys: async () => (await import('./keys.ts')).keys,
  to: async () => (await import('./to.ts')).to,
  forget: async () => (await import('./forget.ts')).forget,
  cleanup: async () => (await import('./cleanup.ts')).cleanup,
  init: async () => (await import('./init.ts')).init,
  hooks: async () => (await import('./hooks.ts')).hooks,
  mcp: async () => (await import('./mcp.ts')).mcp,
  doctor: async () => (await import('./doctor.ts')).doctor,
  debug: async () => (await import('./debug.ts')).debug,
  migrate: async () => (await import('./migrate.ts')).migrate,
};
