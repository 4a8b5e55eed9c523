import { isPlain, revealControls } from '../../model/text.ts';

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

/** Text that is safe to show: control characters are made visible, except tabs and line ends. */
export function cleanText(text: string): string {
  return isPlain(text) ? text : text.replace(/[^\n\t]+/g, revealControls);
}

/** The text of lines without styles and blank lines. */
export function toPlainLines(lines: readonly Line[]): string[] {
  return lines
    .flatMap((line) =>
      cleanText(line.map((part) => (typeof part === 'string' ? part : part.text)).join('')).split('\n'),
    )
    .filter((line) => line.trim() !== '');
}
