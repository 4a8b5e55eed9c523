import { type Action, type Event, listActionTexts } from '../../model/event.ts';
import type { Fact } from '../../model/fact.ts';
import type { Handover } from '../../model/handover.ts';
import { cleanLine, cutAtWord } from '../../model/text.ts';
import type { Trace, TracedFact, TracedSource } from '../capture/trace.ts';
import { bold, dim, type Line, type StyledText, yellow } from './styled-text.ts';

const MAX_FACT_BYTES = 160;

export function describeTrace(handover: Handover, trace: Trace): Line[] {
  return [
    [bold(handover.title)],
    [dim('id          '), handover.id],
    [dim('transcript  '), describeTranscript(handover, trace)],
    ...trace.facts.flatMap((traced) => [
      [],
      describeFact(traced.fact),
      ...describeFactSources(handover, trace, traced),
    ]),
  ];
}

/** Only where the facts came from, without the facts. */
export function describeSources(handover: Handover, trace: Trace): Line[] {
  return [
    [dim('transcript  '), describeTranscript(handover, trace)],
    ...trace.facts.flatMap((traced) => describeFactSources(handover, trace, traced)),
  ];
}

function describeTranscript({ session: { agent, id } }: Handover, { transcript, path }: Trace): string {
  if (transcript.state === 'open') return `${path} of ${agent}, session ${transcript.session.id}`;
  return {
    none: 'none: these facts were not read from one',
    gone: `gone: ${path} no longer exists, and ${agent} has no other with the session ${id}`,
    unknown: `not readable: ${path} is not a format that ${agent} writes`,
  }[transcript.state];
}

function describeFact(fact: Fact): Line {
  const status = fact.status === undefined ? '' : `[${fact.status}] `;
  return [
    bold(`${fact.kind} `),
    `${status}${cutAtWord(cleanLine(fact.text), MAX_FACT_BYTES)}`,
    dim(`  (${fact.trust}, ${fact.origin}, ${fact.id})`),
  ];
}

function describeFactSources(handover: Handover, trace: Trace, { fact, sources }: TracedFact): Line[] {
  if (sources.length === 0) return [[dim(`  no place recorded: ${explainOrigin(handover, fact)}`)]];
  return sources.flatMap((source) => describeSource(trace, source));
}

function explainOrigin({ imported }: Handover, fact: Fact): string {
  if (fact.trust === 'declared') return `declared by ${fact.origin === 'human' ? 'a human' : 'an agent'}`;
  return imported === undefined ? fact.origin : `from ${imported.format}`;
}

function describeSource(trace: Trace, source: TracedSource): Line[] {
  const verdict = judge(trace, source);
  const { session, transcript, events } = source;
  const where = dim(`  in the session ${session}, ${transcript ?? 'without a transcript'}:`);
  return [
    ...(transcript === undefined ? [] : [[where]]),
    ...(verdict === null ? [] : [['  ', verdict]]),
    ...events.map((event) => describePlacedEvent(trace, event)),
  ];
}

/** Transcripts of one row a line are numbered by line; documents and databases by entry. */
function unitOf({ path }: Trace): 'line' | 'entry' {
  return /\.(?:jsonl|md|zst)$/.test(path ?? '') ? 'line' : 'entry';
}

function judge(trace: Trace, source: TracedSource): StyledText | null {
  const place = source.line ? `${unitOf(trace)} ${source.line}` : (source.ref ?? '');
  const elsewhere =
    source.session === undefined
      ? `from the handover ${source.ref}`
      : `${place} of the session ${source.session}, which this transcript does not contain`;
  return {
    told: null,
    changed: yellow(`${place} was rewritten and no longer says this`),
    missing: yellow(`${place} is empty now: ${explainMissing(trace, source)}`),
    unplaced: dim('no place recorded: it was seen in outputs or in several places'),
    elsewhere: dim(elsewhere),
    unread: dim(place),
  }[source.state];
}

function explainMissing(trace: Trace, { line = 0 }: TracedSource): string {
  const { lastLine } = trace;
  if (lastLine === 0) return 'the transcript has no events at all';
  if (line > lastLine) return `the last event is at ${unitOf(trace)} ${lastLine}`;
  return 'it was undone or rewritten';
}

function describePlacedEvent(trace: Trace, event: Event): Line {
  const { line, id } = event.ref;
  const unit = unitOf(trace);
  const place = `${unit} ${line}${unit === 'entry' && id !== null ? ` (${id})` : ''}`;
  return [
    dim(`  ${place}  ${event.at === null ? '' : `${event.at}  `}`),
    `${event.type}  ${cutAtWord(cleanLine(describeEvent(event)), MAX_EVENT_BYTES)}`,
  ];
}

const MAX_EVENT_BYTES = 240;

function describeEvent(event: Event): string {
  switch (event.type) {
    case 'prompt':
    case 'reply':
    case 'thought':
    case 'injected':
    case 'limit':
      return event.text;
    case 'call':
      return describeAction(event.tool, event.action);
    case 'result':
      return `${describeOutcome(event.ok, event.exit)}: ${event.output}`;
    case 'plan':
      return event.items.map((item) => `[${item.status}] ${item.text}`).join('; ');
    case 'compaction':
      return event.summary ?? '(without a summary)';
    case 'interrupted':
      return 'by the user';
  }
}

function describeOutcome(ok: boolean | null, exit: number | null): string {
  if (exit !== null) return `exit ${exit}`;
  if (ok === null) return 'ended';
  return ok ? 'ok' : 'failed';
}

function describeAction(tool: string, action: Action): string {
  switch (action.kind) {
    case 'edit':
      return action.edits
        .map((edit) => `${edit.change} ${edit.path}${edit.to === undefined ? '' : ` -> ${edit.to}`}`)
        .join(', ');
    case 'command':
      return `${action.background ? 'started' : 'ran'} ${action.command}`;
    case 'search':
      return `searched ${action.pattern}${action.path === null ? '' : ` in ${action.path}`}`;
    default:
      return [action.kind === 'other' ? tool : VERBS[action.kind], ...listActionTexts(action)].join(' ');
  }
}

const VERBS = { read: 'read', fetch: 'fetched', delegate: 'delegated', ask: 'asked', propose: 'proposed' } as const;

export function traceToJson(handover: Handover, { transcript, path, facts }: Trace): unknown {
  const { agent, id: session } = handover.session;
  return {
    id: handover.id,
    transcript: { state: transcript.state, agent, session, path },
    facts: facts.map(({ fact, sources }) => {
      const { id, kind, text, trust, origin } = fact;
      return { id, kind, text, trust, origin, sources };
    }),
  };
}
