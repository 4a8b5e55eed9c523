import type { OpenItem, Report, ReportSession } from '../../app/ask/report.ts';

export interface Selection {
  words: readonly string[];
  agent: string;
  /** A place in the list of projects; null for all. */
  project: number | null;
  days: number | null;
}

/** A session with its place in the report. */
export type Shown = ReportSession & { place: number };

/** The part of the report that is selected. */
export interface View {
  report: Report;
  /** All that were ever there, so that a colour stays with its agent. */
  agents: readonly string[];
  /** The newest first. */
  sessions: readonly Shown[];
  open: readonly OpenItem[];
  /** Whether the search matches a text of a session, or what the session is about. */
  accepts(session: ReportSession, text: string): boolean;
}

const DAY_MS = 86_400_000;

/** Prepares the report for being asked again and again. */
export function openReport(report: Report): (selection: Selection) => View {
  const sessions = report.sessions.map((session, place): Shown => Object.assign(session, { place }));
  const agents = [...new Set(sessions.map(({ agent }) => agent))].sort();
  const texts = new Map<number, string>();
  const textOf = (session: Shown): string => {
    const known = texts.get(session.place) ?? listTexts(session, report).join('\n').toLowerCase();
    texts.set(session.place, known);
    return known;
  };
  return ({ words, agent, project, days }) => {
    const since = days === null ? '' : new Date(Date.parse(report.generated_at) - days * DAY_MS).toISOString();
    const inScope = (session: ReportSession): boolean =>
      (agent === '' || session.agent === agent) &&
      (project === null || session.project === project) &&
      session.at >= since;
    const accepts = (session: ReportSession, text: string): boolean => {
      const about = words.length === 0 ? '' : `${text}\n${describe(session, report)}`.toLowerCase();
      return words.every((word) => about.includes(word));
    };
    const selected = sessions.filter(
      (session) => inScope(session) && words.every((word) => textOf(session).includes(word)),
    );
    const open = report.open.filter((item) => {
      const session = report.sessions[item.session];
      return session !== undefined && inScope(session) && accepts(session, item.text);
    });
    return { report, agents, sessions: selected, open, accepts };
  };
}

/** Who signed what was imported; null for what was made here. */
export function describeSigner({ signer }: ReportSession): string | null {
  if (signer === undefined) return null;
  return signer === null ? 'imported, not signed' : `imported, signed by ${signer}`;
}

function describe({ goal, agent, project }: ReportSession, { projects }: Report): string {
  return `${goal}\n${agent}\n${projects[project] ?? ''}`;
}

function listTexts(session: ReportSession, report: Report): string[] {
  const { handover, requests, commits, decisions, passed, failed, changed, read } = session;
  const paths = [...changed, ...read].map((at) => report.files[at]?.path ?? '');
  const left = report.open.filter((item) => item.handover === handover).map(({ text }) => text);
  const settled = decisions.flatMap(({ text, because }) => [text, because ?? '']);
  return [
    describe(session, report),
    handover,
    ...requests,
    ...commits,
    ...settled,
    ...passed,
    ...failed,
    ...paths,
    ...left,
  ];
}
