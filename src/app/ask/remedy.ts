import { isChangedFile } from '../../handover/outcome.ts';
import { computeFactId, type Fact } from '../../model/fact.ts';
import type { Handover } from '../../model/handover.ts';
import { locateInProject } from '../../model/paths.ts';
import { lineOf } from './told-session.ts';

/** What was done between a failure and the success of the same command, as far as facts tell. */
export interface Remedy {
  /** The handover that tells of it. */
  handover: string;
  /** Whether another session than the one that failed did it. */
  isLater: boolean;
  /** What succeeded; null where only that it did is known. */
  succeeded: string | null;
  files: { path: string; change: string }[];
  commands: string[];
  /** What the agent said of the cause or the cure. */
  said: string[];
}

/** The ids under which the runs of a command are told. */
export function idsOfRuns(command: string): string[] {
  return [computeFactId('check', command), computeFactId('command', command)];
}

/** A stretch of a session, between two lines of its transcript; both ends are left out. */
interface Stretch {
  from: number;
  to: number;
}

const MOST_OF_A_KIND = 8;
const MOST_SAID = 2;
const CURE =
  /\b(?:root cause|caus(?:e|ed|ing)|because|turns? out|fix(?:es|ed|ing)?|the (?:problem|issue|bug) (?:is|was))\b/i;

/** What a handover tells of the stretch in which an error went away. */
export function describeRemedy(
  by: Handover,
  stretch: Stretch,
  { isLater, success, home }: { isLater: boolean; success: Fact | null; home?: string | undefined },
): Remedy {
  const between = by.facts
    .filter((fact) => isIn(fact, stretch) && fact.id !== success?.id)
    .sort((a, b) => lineOf(a) - lineOf(b));
  return {
    handover: by.id,
    isLater,
    succeeded: success?.text ?? null,
    files: between
      .filter(isChangedFile)
      .slice(-MOST_OF_A_KIND)
      .map((fact) => ({
        path: locateInProject(fact, by.workspace, home),
        change: fact.status ?? '',
      })),
    commands: between
      .filter(({ kind, status }) => (kind === 'command' || kind === 'check') && status === 'ok')
      .slice(-MOST_OF_A_KIND)
      .map(({ text }) => text),
    said: between
      .filter(({ kind, origin, text }) => SPOKEN.has(kind) && origin === 'agent' && CURE.test(text))
      .slice(-MOST_SAID)
      .map(({ text }) => text),
  };
}

const SPOKEN: ReadonlySet<Fact['kind']> = new Set(['decision', 'rejected', 'note']);

/** Only what the session itself did: the line of something taken over is of another transcript. */
function isIn({ sources: [source] }: Fact, { from, to }: Stretch): boolean {
  if (source?.line === undefined || source.session !== undefined) return false;
  return source.line > from && source.line < to;
}
