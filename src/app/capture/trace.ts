import { AGENT_NAMES, type Agent, type FoundSession, startReadStats } from '../../agents/agent.ts';
import { loadAgent } from '../../agents/table.ts';
import type { Event } from '../../model/event.ts';
import type { Fact, Source } from '../../model/fact.ts';
import type { Handover, Session } from '../../model/handover.ts';
import { isHandoverId } from '../../model/id.ts';
import { pathExists } from '../../platform/folders.ts';
import type { Machine } from '../../platform/machine.ts';
import { abbreviateHome, expandHome } from '../../platform/paths.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import { redactEvent } from '../../redact/redact-event.ts';
import type { Redactor } from '../../redact/redactor.ts';
import { eventStatesFact } from './match-fact.ts';

/**
 * What the source of a fact points to. `told`: an event that states the fact. `changed`: other events.
 * `missing`: no event. `unplaced`: the source names no place. `elsewhere`: the place is in another session or handover.
 * `unread`: the transcript is gone or cannot be read.
 */
type SourceState = 'told' | 'changed' | 'missing' | 'unplaced' | 'elsewhere' | 'unread';

export interface TracedSource extends Source {
  state: SourceState;
  /** In the order of the transcript, without secrets; a call comes with its result. */
  events: Event[];
  /** The transcript they are in, if it is not the handover's own. */
  transcript?: string | null;
}

export type TracedFact = { fact: Fact; sources: TracedSource[] };

interface TracedEvents {
  facts: TracedFact[];
  /** The last line that was read; 0 when none was. */
  lastLine: number;
}

/** Reads no further than needed, except with `wasRedacted`: then all events are read, to find the session's secrets first. */
export function traceEvents(
  events: Iterable<Event> | null,
  facts: readonly Fact[],
  { session, redactor, wasRedacted }: { session: string | null; redactor: Redactor; wasRedacted: boolean },
): TracedEvents {
  const searches = facts.map((fact) => ({ fact, sources: fact.sources.map((one) => new Search(fact, one, session)) }));
  const placed = searches.flatMap(({ sources }) => sources).filter((source) => source.isPlaced);
  const lastLine =
    events === null ? 0 : search(wasRedacted ? learnSecrets(events, redactor) : events, placed, wasRedacted);
  return {
    facts: searches.map(({ fact, sources }) => ({
      fact,
      sources: sources.map((source) => source.conclude(events !== null, redactor)),
    })),
    lastLine,
  };
}

/** A secret that is recognized in one place is taken out everywhere. */
function* learnSecrets(events: Iterable<Event>, redactor: Redactor): Generator<Event> {
  for (const event of events) {
    redactEvent(event, redactor);
    yield event;
  }
}

function search(events: Iterable<Event>, searches: readonly Search[], toTheEnd: boolean): number {
  const wanted = new Map<number | string, Search[]>();
  for (const source of searches) {
    const place = source.line > 0 ? source.line : source.ref;
    if (place !== null) wanted.set(place, [...(wanted.get(place) ?? []), source]);
  }
  const open = new Set(searches);
  const last = searches.reduce((latest, source) => Math.max(latest, source.line), 0);
  const waiting = new Map<string, Set<Search>>();
  let lastLine = 0;
  if (open.size === 0) return lastLine;
  for (const event of events) {
    lastLine = Math.max(lastLine, event.ref.line);
    const at = new Set([
      ...(wanted.get(event.ref.line) ?? []),
      ...(event.ref.id === null ? [] : (wanted.get(event.ref.id) ?? [])),
      ...(event.type === 'result' ? (waiting.get(event.call) ?? []) : []),
    ]);
    for (const source of at) {
      source.visit(event);
      if (source.isDone) open.delete(source);
    }
    if (event.type === 'call' && at.size > 0) waiting.set(event.call, at);
    if (event.type === 'result') waiting.delete(event.call);
    if (open.size === 0 && event.ref.line > last && !toTheEnd) break;
  }
  return lastLine;
}

class Search {
  readonly #fact: Fact;
  readonly #source: Source;
  readonly #isElsewhere: boolean;
  readonly #events: Event[] = [];
  #isStated = false;
  #hasResult = false;

  constructor(fact: Fact, source: Source, session: string | null) {
    this.#fact = fact;
    this.#source = source;
    const isOfHandover = source.ref !== undefined && isHandoverId(source.ref);
    this.#isElsewhere = isOfHandover || (source.session !== undefined && source.session !== session);
  }

  get line(): number {
    return this.#source.line ?? 0;
  }

  get ref(): string | null {
    return this.#source.ref ?? null;
  }

  get isPlaced(): boolean {
    return !this.#isElsewhere && (this.line > 0 || this.ref !== null);
  }

  /** Nothing that comes later can add to it. */
  get isDone(): boolean {
    return this.#isStated && (this.#hasResult || !describesOutcome(this.#fact));
  }

  visit(event: Event): void {
    this.#events.push(event);
    if (event.type === 'result') this.#hasResult = true;
    if (eventStatesFact(event, this.#fact)) this.#isStated = true;
  }

  conclude(wasRead: boolean, redactor: Redactor): TracedSource {
    const events = this.#isStated ? this.#pick() : this.#events;
    const redacted = events.map((event) => redactEvent(event, redactor));
    return { ...this.#source, state: this.#judge(wasRead), events: redacted };
  }

  #judge(wasRead: boolean): SourceState {
    if (this.#isElsewhere) return 'elsewhere';
    if (!this.isPlaced) return 'unplaced';
    if (!wasRead) return 'unread';
    if (this.#isStated) return 'told';
    return this.#events.length === 0 ? 'missing' : 'changed';
  }

  /** Of the events at the place, those that state the fact, with their calls and results. */
  #pick(): Event[] {
    const stating = this.#events.filter((event) => eventStatesFact(event, this.#fact));
    const calls = new Set(stating.flatMap((event) => ('call' in event ? event.call : [])));
    return this.#events.filter((event) => stating.includes(event) || ('call' in event && calls.has(event.call)));
  }
}

/** Whether the fact depends on the result of a call, not only on the call: commands, checks and errors that ended. */
function describesOutcome({ kind, status }: Fact): boolean {
  const isRun = kind === 'command' || kind === 'check' || kind === 'error';
  return isRun && status !== 'unknown' && status !== 'running';
}

export type OpenTranscript = { state: 'open'; agent: Agent; session: FoundSession };

/** The state of the transcript that a handover was captured from. */
type TranscriptState =
  | OpenTranscript
  /** The handover was declared, or imported without one. */
  | { state: 'none' }
  | { state: 'gone'; path: string }
  /** The file is there, but the agent's reader does not recognise it. */
  | { state: 'unknown'; path: string };

export async function reopenTranscript(recorded: Session, machine: Machine): Promise<TranscriptState> {
  const name = AGENT_NAMES.find((known) => known === recorded.agent);
  if (recorded.transcript === null) return { state: 'none' };
  const path = expandHome(recorded.transcript, machine);
  const unread = { state: pathExists(path) ? 'unknown' : 'gone', path } as const;
  if (name === undefined) return unread;
  const agent = await loadAgent(name);
  const session = pathExists(path) ? agent.inspectFile(path) : findMoved(agent, recorded.id, machine);
  if (session === null) return unread;
  // One file may hold many sessions: a database, or a history that is appended to.
  return { state: 'open', agent, session: { ...session, id: recorded.id ?? session.id } };
}

/** Agents archive their transcripts, or move them with the project. */
function findMoved(agent: Agent, id: string | null, machine: Machine): FoundSession | null {
  if (id === null) return null;
  for (const session of agent.findSessions(machine)) if (session.id === id) return session;
  return null;
}

export interface Trace extends TracedEvents {
  transcript: TranscriptState;
  /** Where the transcript is, or was, with `~` for the home folder. */
  path: string | null;
}

/** Reads the transcripts again. `earlier`: the handovers that its facts were carried over from, oldest first. */
export async function traceFacts(
  handover: Handover,
  facts: readonly Fact[],
  { machine, earlier }: { machine: Machine; earlier: readonly Handover[] },
): Promise<Trace> {
  const trace = await traceSession(handover, facts, machine);
  const others = new Map(earlier.map((one) => [one.session.id, one]));
  others.delete(handover.session.id);
  for (const [session, other] of others) {
    if (session !== null) await traceElsewhere(trace, { handover: other, session, machine });
  }
  return trace;
}

async function traceSession(handover: Handover, facts: readonly Fact[], machine: Machine): Promise<Trace> {
  const transcript = await reopenTranscript(handover.session, machine);
  const folder = transcript.state === 'open' ? transcript.session.cwd : null;
  const options = {
    session: handover.session.id,
    redactor: openRedactor(machine, { folder, makesKey: false }),
    wasRedacted: handover.redactions.length > 0,
  };
  if (transcript.state !== 'open')
    return { ...traceEvents(null, facts, options), transcript, path: handover.session.transcript };
  const { agent, session } = transcript;
  return {
    ...traceEvents(agent.readEvents(session, startReadStats()), facts, options),
    transcript,
    path: abbreviateHome(session.path, machine),
  };
}

/** Completes what was seen in one other session. */
async function traceElsewhere(
  trace: Trace,
  { handover, session, machine }: { handover: Handover; session: string; machine: Machine },
): Promise<void> {
  const isOf = (source: TracedSource): boolean => source.state === 'elsewhere' && source.session === session;
  const taken = trace.facts.filter(({ sources }) => sources.some(isOf));
  if (taken.length === 0) return;
  const asked = taken.map(({ fact }) => ({ ...fact, sources: fact.sources.filter((one) => one.session === session) }));
  const { facts, path } = await traceSession(handover, asked, machine);
  for (const [index, traced] of taken.entries()) {
    const found = (facts[index]?.sources ?? []).map((source) => ({ ...source, transcript: path }));
    traced.sources = traced.sources.map((source) => (isOf(source) ? (found.shift() ?? source) : source));
  }
}
