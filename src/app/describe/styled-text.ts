import { revealText } from '../../model/text.ts';

export type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green';

export type StyledText = { text: string; style: Style };

export type Part = string | StyledText;
export type Line = readonly Part[];

const inStyle =
  (style: Style) =>
  (text: string): StyledText => ({ text, style });

export const bold = inStyle('bold');
export const dim = inStyle('dim');
export const red = inStyle('red');
export const yellow = inStyle('yellow');
export const green = inStyle('green');

/** The text of lines without styles and blank lines. */
export function toPlainLines(lines: readonly Line[]): string[] {
  return lines
    .flatMap((line) =>
      revealText(line.map((part) => (typeof part === 'string' ? part : part.text)).join('')).split('\n'),
    )
    .filter((line) => line.trim() !== '');
}
