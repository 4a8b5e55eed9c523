import type { StricliProcess } from '@stricli/core';
import type { Context, Progress } from '../../app/context.ts';
import { dim } from '../../app/describe/styled-text.ts';
import { describeMachine, type Env, type Machine } from '../../platform/machine.ts';
import { isInputTerminal, readInput, type TextSink } from '../../platform/streams.ts';
import { createOutput, type Output, printNotice, wantsColours } from './output.ts';

export interface CliContext extends Context {
  process: StricliProcess;
  out: Output;
  err: Output;
  /** Input and standard error are a terminal: a person can be asked. */
  interactive: boolean;
  /** Standard error is a terminal, where a line can be drawn over. */
  drawsProgress: boolean;
  /** How many columns a line has. */
  width: number;
  readInput(maxBytes: number): string | null;
  /** For what is not text. */
  stdout: TextSink;
}

interface Streams {
  stdout: TextSink;
  err: Output;
  /** Whether standard error is a terminal. */
  isTerminal: boolean;
}

export async function createContext({ stdout, err, isTerminal }: Streams): Promise<CliContext> {
  const machine = describeMachine();
  const out = await openOutput(stdout, machine.env);
  return {
    process: {
      stdout: { write: (text) => out.block(text) },
      stderr: { write: (text) => err.block(text) },
      env: machine.env,
    },
    machine,
    out,
    err,
    interactive: isInputTerminal() && isTerminal,
    drawsProgress: isTerminal,
    width: findWidth(stdout, machine.env),
    notify: (notice) => printNotice(err, notice),
    progress: (label) => (isTerminal ? drawProgress(err, machine, label) : undefined),
    readInput,
    stdout,
  };
}

export async function openOutput(sink: TextSink, env: Env): Promise<Output> {
  const layout = sink.isTerminal ? await import('./layout.ts') : null;
  return createOutput(sink, wantsColours(sink, env), layout);
}

const DEFAULT_WIDTH = 80;
const MIN_WIDTH = 40;

function findWidth(sink: TextSink, { COLUMNS }: Env): number {
  const given = /^\d{1,4}$/.test(COLUMNS ?? '') ? Number(COLUMNS) : 0;
  return Math.max(given || (sink.size()?.columns ?? DEFAULT_WIDTH), MIN_WIDTH);
}

const REDRAW_MS = 100;

/** Draws over one line, and only for work that takes longer than a moment. */
function drawProgress(err: Output, { clock }: Machine, label: string): Progress {
  let drawnMs = clock.now();
  let isDrawn = false;
  return (done, total) => {
    if (done === total) {
      if (isDrawn) err.redraw(null);
      return;
    }
    const now = clock.now();
    if (now - drawnMs < REDRAW_MS) return;
    drawnMs = now;
    isDrawn = true;
    err.redraw(dim(total === undefined ? `${label} ${done}` : `${label} ${done} of ${total}`));
  };
}
