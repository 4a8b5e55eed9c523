import { parseSummary } from '../corpus/summary.ts';
import { PROSE_METRICS, SUM_PARTS } from '../score/metrics.ts';
import type { Arm } from './arm.ts';

/**
 * The summary that a model wrote at the cut. Whatever is measured by that summary says nothing about it, and it is as
 * long as it is.
 */
export const nativeArm: Arm = {
  name: 'native',
  about: 'the summary that a model wrote, whole',
  meaningless: ['SUM', ...SUM_PARTS, 'secFiles', 'secErr', ...PROSE_METRICS, 'filePrec'],
  isWhole: true,
  prepare: ({ summary }) => {
    const { body } = parseSummary(summary);
    return () => body.trim();
  },
};
