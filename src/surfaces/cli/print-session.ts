import { formatTimestamp } from '../../model/time.ts';

import { abbreviateHome } from '../../platform/paths.ts';
import type { Passage } from '../../search/sessions/passage.ts';
import type { SessionView } from '../../search/sessions/read-session.ts';
import type { CliContext } from './context.ts';
import { bold, dim, yellow } from './output.ts';

const BEFORE = 3;
const BEHIND = 8;

/** All that was said, or what stands around a line. */
export function pickPassages({ passages }: SessionView, line: number | null): Passage[] {
  if (line === null) return passages;
  const at = passages.findIndex((passage) => passage.line >= line);
  if (at === -1) return passages.slice(-BEFORE);
  return passages.slice(Math.max(0, at - BEFORE), at + BEHIND);
}

export function printSession(
  { out, machine }: Pick<CliContext, 'out' | 'machine'>,
  session: SessionView,
  line: number | null,
): void {
  const { head, gone } = session;
  const path = abbreviateHome(head.path, machine);
  out.line(bold(head.id), `  ${head.agent}  ${head.title ?? ''}`);
  out.line(dim('folder      '), head.cwd === null ? 'unknown' : abbreviateHome(head.cwd, machine));
  out.line(dim('transcript  '), path, gone ? yellow(' is gone: this is the text that was kept of it') : '');
  for (const passage of pickPassages(session, line)) {
    const at = passage.at === null ? '' : `  ${formatTimestamp(passage.at)}`;
    out.line();
    out.line(
      dim(`line ${passage.line}${at}  `),
      passage.line === line ? bold(passage.speaker) : passage.speaker,
    );
    out.block(`${passage.text}\n`);
  }
}

export function sessionToJson(session: SessionView, line: number | null): unknown {
  const { agent, id, path, cwd, title } = session.head;
  const passages = pickPassages(session, line).map(({ at, ...passage }) => ({
    at: at === null ? null : formatTimestamp(at),
    ...passage,
  }));
  return { agent, id, cwd, title, path, gone: session.gone, passages };
}
