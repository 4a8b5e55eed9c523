import { createOutput, type Output } from '../cli/output.ts';

/** The lines that something prints for a person, without looks and blank lines. */
export function collectLines(print: (out: Output) => void): string[] {
  let printed = '';
  const write = (text: string): boolean => {
    printed += text;
    return true;
  };
  print(createOutput({ isTerminal: false, write, writeBytes: () => true }, false));
  return printed.split('\n').filter((line) => line.trim() !== '');
}
