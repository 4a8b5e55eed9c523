import { isPlain, revealControls } from '../../model/text.ts';

export type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green';

/** A piece of text and how a terminal shows it. */
export interface StyledText {
  text: string;
  style: Style;
}

export type Part = string | StyledText;
export type Line = readonly Part[];

export function bold(text: string): StyledText {
  return { text, style: 'bold' };
}

export function dim(text: string): StyledText {
  return { text, style: 'dim' };
}

export function red(text: string): StyledText {
  return { text, style: 'red' };
}

export function yellow(text: string): StyledText {
  return { text, style: 'yellow' };
}

export function green(text: string): StyledText {
  return { text, style: 'green' };
}

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
