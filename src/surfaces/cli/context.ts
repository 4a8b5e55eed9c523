import type { StricliProcess } from '@stricli/core';
import type { Context, Progress } from '../../app/context.ts';
import { dim } from '../../app/describe/styled-text.ts';
import { describeMachine, type Machine } from '../../platform/machine.ts';
import { isInputTerminal, openSink, readInput, type TextSink } from '../../platform/streams.ts';
import { createOutput, type Output, printNotice, wantsColours } from './output.ts';

export interface CliContext extends Context {
  process: StricliProcess;
  out: Output;
  err: Output;
  /** Input and standard error are a terminal: a person can be asked. */
  interactive: boolean;
  /** Standard error is a terminal, where a line can be drawn over. */
  drawsProgress: boolean;
  readInput(maxBytes: number): string | null;
  /** For what is not text. */
  stdout: TextSink;
}

export function createContext(err: Output, isTerminal: boolean): CliContext {
  const stdout = openSink(1);
  const machine = describeMachine();
  const out = createOutput(stdout, wantsColours(stdout, machine.env));
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
    notify: (notice) => printNotice(err, notice),
    progress: (label) => (isTerminal ? drawProgress(err, machine, label) : undefined),
    readInput,
    stdout,
  };
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
