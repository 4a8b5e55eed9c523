import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { DEBT_KINDS, type DebtKind } from '../../src/app/debt/find-again.ts';
import { parseJson } from '../../src/model/json.ts';

const Labels = v.object({
  sessions: v.array(
    v.object({
      session: v.string(),
      items: v.array(
        v.object({ part: v.number(), kind: v.picklist(DEBT_KINDS), line: v.number(), right: v.boolean() }),
      ),
    }),
  ),
});
export type Labels = v.InferOutput<typeof Labels>;

export function readLabels(path: string): Labels {
  return v.parse(Labels, parseJson(readFileSync(path, 'utf8'), path));
}

/** What was counted in a session. */
export interface Counted {
  session: string;
  part: number;
  kind: DebtKind;
  line: number;
}

export interface Precision {
  kind: DebtKind;
  right: number;
  wrong: number;
  /** Counted in a labelled session, and looked at by nobody. */
  unlabelled: number;
  /** Labelled as right, and not counted any more. */
  lost: number;
}

/** How much of what is counted in labelled sessions a person found to be so. */
export function scoreLabels(labelled: Labels, measured: readonly string[], counted: readonly Counted[]): Precision[] {
  const nameOf = ({ session, part, kind, line }: Counted): string => [session, part, kind, line].join(' ');
  const sessions = labelled.sessions.filter(({ session }) => measured.includes(session));
  const labels = new Map(
    sessions.flatMap(({ session, items }) => items.map((item) => [nameOf({ session, ...item }), item] as const)),
  );
  const ours = counted.filter(({ session }) => sessions.some((one) => one.session === session));
  const found = new Set(ours.map(nameOf));
  return DEBT_KINDS.map((kind) => {
    const verdicts = ours.filter((one) => one.kind === kind).map((one) => labels.get(nameOf(one))?.right);
    return {
      kind,
      right: verdicts.filter((right) => right === true).length,
      wrong: verdicts.filter((right) => right === false).length,
      unlabelled: verdicts.filter((right) => right === undefined).length,
      lost: [...labels].filter(([name, item]) => item.kind === kind && item.right && !found.has(name)).length,
    };
  });
}
