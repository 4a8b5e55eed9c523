import type { Publisher } from './publisher.ts';

/** Keeps everything at home. */
export const nowhere: Publisher = {
  backend: 'none',
  destination: 'nowhere',
  plan: async () => ({ changes: [], waiting: [], notes: [] }),
  publish: async () => ({ outcome: 'nothing new', changes: [], commit: null, notes: [] }),
};
