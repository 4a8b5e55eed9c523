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
  const note = gone ? yellow(' was deleted; this is its stored text') : '';
  return [
    [bold(head.id), `  ${head.agent}  ${head.title ?? ''}`],
    [dim('folder      '), head.cwd === null ? 'unknown' : abbreviateHome(head.cwd, machine)],
    [dim('transcript  '), abbreviateHome(head.path, machine), note],
    ...pickPassages(session, line).flatMap(({ at, line: own, speaker, tool, text }) => [
      [],
      [dim(`line ${own}${at === null ? '' : `  ${formatTimestamp(at)}`}  `), ...nameTurn(speaker, tool, own === line)],
      [text],
    ]),
  ];
}

function nameTurn(speaker: string, tool: string | undefined, isWanted: boolean): Line {
  const name = isWanted ? bold(speaker) : speaker;
  return tool === undefined ? [name] : [name, ' calls ', bold(tool)];
}

export function sessionToJson(session: SessionView, line: number | null): unknown {
  const { agent, id, path, cwd, title } = session.head;
  const passages = pickPassages(session, line).map(({ at, tool = null, ...passage }) => ({
    at: at === null ? null : formatTimestamp(at),
    tool,
    ...passage,
  }));
  return { agent, id, cwd, title, path, gone: session.gone, passages };
}
