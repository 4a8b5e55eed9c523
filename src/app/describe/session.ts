import { formatTimestamp } from '../../model/time.ts';
import type { Machine } from '../../platform/machine.ts';
import { abbreviateHome } from '../../platform/paths.ts';
import type { Passage } from '../../search/sessions/passage.ts';
import type { SessionView } from '../../search/sessions/read-session.ts';
import { bold, dim, type Line, yellow } from './styled-text.ts';

const BEFORE = 3;
const BEHIND = 8;

function pickPassages({ passages }: SessionView, line: number | null): Passage[] {
  if (line === null) return passages;
  const at = passages.findIndex((passage) => passage.line >= line);
  if (at === -1) return passages.slice(-BEFORE);
  return passages.slice(Math.max(0, at - BEFORE), at + BEHIND);
}

/** The first line names the session; the passages follow, all of them or those around a line. */
export function describeSession(session: SessionView, line: number | null, machine: Machine): Line[] {
  const { head, gone } = session;
  const fate = gone ? yellow(' was deleted; this is its stored text') : '';
  return [
    [bold(head.id), `  ${head.agent}  ${head.title ?? ''}`],
    [dim('folder      '), head.cwd === null ? 'unknown' : abbreviateHome(head.cwd, machine)],
    [dim('transcript  '), abbreviateHome(head.path, machine), fate],
    ...pickPassages(session, line).flatMap(({ at, line: own, speaker, text }) => [
      [],
      [dim(`line ${own}${at === null ? '' : `  ${formatTimestamp(at)}`}  `), own === line ? bold(speaker) : speaker],
      [text],
    ]),
  ];
}

export function sessionToJson(session: SessionView, line: number | null): unknown {
  const { agent, id, path, cwd, title } = session.head;
  const passages = pickPassages(session, line).map(({ at, ...passage }) => ({
    at: at === null ? null : formatTimestamp(at),
    ...passage,
  }));
  return { agent, id, cwd, title, path, gone: session.gone, passages };
}
