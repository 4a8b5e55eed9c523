import type { Trace, TracedFact, TracedSource } from '../../app/capture/trace.ts';
import type { Event } from '../../model/event.ts';
import type { Fact } from '../../model/fact.ts';
import type { Handover } from '../../model/handover.ts';
import { cleanLine, cutAtWord } from '../../model/text.ts';
import { describeEvent } from './describe-event.ts';
import { bold, dim, type Output, type Styled, yellow } from './output.ts';

const MAX_FACT_BYTES = 160;

/** Facts, each with the events that it came from. */
export function printTrace(out: Output, handover: Handover, trace: Trace): void {
  const print = new TracePrinter(out, handover, trace);
  out.line(bold(handover.title));
  out.line(dim('id          '), handover.id);
  out.line(dim('transcript  '), print.describeTranscript());
  for (const traced of trace.facts) print.printFact(traced);
}

/** Of the same facts only where they came from. */
export function printSources(out: Output, handover: Handover, trace: Trace): void {
  const print = new TracePrinter(out, handover, trace);
  out.line(dim('transcript  '), print.describeTranscript());
  for (const traced of trace.facts) print.printSources(traced);
}

class TracePrinter {
  readonly #out: Output;
  readonly #handover: Handover;
  readonly #trace: Trace;
  /** Agents that keep a line a row number lines; in documents and databases entries are counted. */
  readonly #unit: string;

  constructor(out: Output, handover: Handover, trace: Trace) {
    this.#out = out;
    this.#handover = handover;
    this.#trace = trace;
    this.#unit = /\.(?:jsonl|md|zst)$/.test(trace.path ?? '') ? 'line' : 'entry';
  }

  describeTranscript(): string {
    const { transcript, path } = this.#trace;
    const { agent, id } = this.#handover.session;
    switch (transcript.state) {
      case 'none':
        return 'none: these facts were not read from one';
      case 'gone':
        return `gone: there is no ${path} any more, and no other of ${agent} with the session ${id}`;
      case 'unknown':
        return `not readable: ${path} is not what ${agent} wrote`;
      case 'open':
        return `${path} of ${agent}, session ${transcript.session.id}`;
    }
  }

  printFact(traced: TracedFact): void {
    const { fact } = traced;
    this.#out.line();
    const status = fact.status === undefined ? '' : `[${fact.status}] `;
    this.#out.line(
      bold(`${fact.kind} `),
      `${status}${cutAtWord(cleanLine(fact.text), MAX_FACT_BYTES)}`,
      dim(`  (${fact.trust}, ${fact.origin}, ${fact.id})`),
    );
    this.printSources(traced);
  }

  printSources({ fact, sources }: TracedFact): void {
    if (sources.length === 0) this.#out.line(dim(`  no place is kept: ${this.#explainOrigin(fact)}`));
    for (const source of sources) this.#printSource(source);
  }

  #explainOrigin(fact: Fact): string {
    if (fact.trust === 'declared') return `declared by ${fact.origin === 'human' ? 'a human' : 'an agent'}`;
    return this.#handover.imported === undefined ? fact.origin : `from ${this.#handover.imported.format}`;
  }

  #printSource(source: TracedSource): void {
    if (source.transcript !== undefined)
      this.#out.line(
        dim(`  in the session ${source.session}, ${source.transcript ?? 'without a transcript'}:`),
      );
    const verdict = this.#judge(source);
    if (verdict !== null) this.#out.line('  ', verdict);
    for (const event of source.events) this.#printEvent(event);
  }

  #judge(source: TracedSource): Styled | null {
    const place = source.line ? `${this.#unit} ${source.line}` : (source.ref ?? '');
    switch (source.state) {
      case 'told':
        return null;
      case 'changed':
        return yellow(`${place} was rewritten: what stands there now does not say this`);
      case 'missing':
        return yellow(`${place} tells nothing now: ${this.#explainMissing(source)}`);
      case 'unplaced':
        return dim('no place is kept: it was met in outputs or in several places');
      case 'elsewhere':
        return dim(
          source.session === undefined
            ? `told in the handover ${source.ref}`
            : `${place} of the session ${source.session}, which this transcript does not hold`,
        );
      case 'unread':
        return dim(place);
    }
  }

  #explainMissing({ line = 0 }: TracedSource): string {
    const { lastLine } = this.#trace;
    if (lastLine === 0) return 'the transcript tells nothing at all';
    return line > lastLine
      ? `the last event stands at ${this.#unit} ${lastLine}`
      : 'it was taken back or rewritten';
  }

  #printEvent(event: Event): void {
    const { line, id } = event.ref;
    const place = `${this.#unit} ${line}${this.#unit === 'entry' && id !== null ? ` (${id})` : ''}`;
    this.#out.line(
      dim(`  ${place}  ${event.at === null ? '' : `${event.at}  `}`),
      `${event.type}  ${describeEvent(event)}`,
    );
  }
}

export function traceToJson(handover: Handover, { transcript, path, facts }: Trace): unknown {
  return {
    id: handover.id,
    transcript: {
      state: transcript.state,
      agent: handover.session.agent,
      session: handover.session.id,
      path,
    },
    facts: facts.map(({ fact, sources }) => ({
      id: fact.id,
      kind: fact.kind,
      text: fact.text,
      trust: fact.trust,
      origin: fact.origin,
      sources,
    })),
  };
}
