import { parseSummary } from '../corpus/summary.ts';
import type { Arm } from './arm.ts';

/** The summary that a model wrote at the cut, as long as it is. */
export const nativeArm: Arm = {
  name: 'native',
  about: 'the summary that a model wrote, whole',
  isWhole: true,
  canTell: ({ summary }) => summary !== '',
  prepare: ({ summary }) => {
    const { body } = parseSummary(summary);
    return () => body.trim();
  },
};
