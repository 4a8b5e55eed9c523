import { HOOK_HOSTS } from '../../agents/hook-hosts.ts';
import type { HookedAgent } from '../../agents/hook-input.ts';
import type { HookStatus } from '../../app/setup/status.ts';
import { HandoverError } from '../../errors.ts';
import { cleanLine } from '../../model/text.ts';

/** Those that hooks can be put into; none for all. */
export function requireHookedAgents(names: readonly string[] = []): HookedAgent[] {
  const known = HOOK_HOSTS.map(({ agent }) => agent);
  return names.map((words) => {
    const name = known.find((agent) => agent === words.trim().toLowerCase());
    if (name !== undefined) return name;
    throw new HandoverError(
      'HANDOVER_USAGE',
      `"${cleanLine(words)}" is not an agent that hooks can be put into`,
      {
        hint: `Give one of: ${known.join(', ')}.`,
      },
    );
  });
}

/** An agent that was named must be there; of the others it is said when they are not. */
export function splitByPresence(
  found: readonly HookStatus[],
  named: readonly HookedAgent[],
): { present: HookStatus[]; absent: HookStatus[] } {
  const absent = found.filter(({ detected }) => !detected);
  const [missing] = absent;
  if (named.length === 0 || missing === undefined)
    return { present: found.filter(({ detected }) => detected), absent };
  throw new HandoverError(
    'HANDOVER_NOT_FOUND',
    `${missing.title} is not on this machine: it has neither a folder nor a program here`,
    { hint: `Install it and start it once, then: handover hooks install --agent ${missing.agent}` },
  );
}

/** What users have still to do before an agent runs hooks of ours. */
export function listReviews(found: readonly HookStatus[]): { agent: HookedAgent; sentence: string }[] {
  return found.flatMap(({ agent, title, files, trustStep }) => {
    if (trustStep === null || files.every(({ trusted }) => trusted !== false)) return [];
    return [{ agent, sentence: `${title} runs no hook before you have looked at it: ${trustStep}` }];
  });
}
