/** The three files of a workspace: who works here, what is known, where the last session stood. */
export const DOCUMENT_NAMES = ['SOUL.md', 'MEMORY.md', 'HANDOFF.md'] as const;
export type DocumentTitle = (typeof DOCUMENT_NAMES)[number];

export const MAX_DOCUMENT_BYTES: number = 4 * 1024 * 1024;
