import { getText, type Row, toRows } from './shared/json.ts';

/** The blocks of a message, which may also be one plain text. */
export function toBlocks(content: unknown): readonly Row[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : toRows(content);
}

/** The texts of content that is one plain text or a list of blocks. */
export function listTexts(content: unknown): string[] {
  return typeof content === 'string' ? [content] : listBlockTexts(content);
}

/** The texts of a list of blocks; none for anything else. */
export function listBlockTexts(blocks: unknown): string[] {
  return toRows(blocks).flatMap((block) => getText(block, 'text') ?? []);
}
