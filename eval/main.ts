import { availableParallelism } from 'node:os';
import { describeMachine } from '../src/platform/machine.ts';
import { openSink } from '../src/platform/streams.ts';
import { createOutput, type Output, wantsColours } from '../src/surfaces/cli/output.ts';
import { runEvaluation } from './run.ts';

const machine = describeMachine();

function openOutput(fd: 1 | 2): Output {
  const sink = openSink(fd);
  return createOutput(sink, wantsColours(sink, machine.env));
}

process.exitCode = await runEvaluation(process.argv.slice(2), {
  machine,
  processors: availableParallelism(),
  out: openOutput(1),
  err: openOutput(2),
});
