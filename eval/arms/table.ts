import type { Arm } from './arm.ts';
import { makeClearArm, makeHandoverArm } from './handover.ts';
import { nativeArm } from './native.ts';
import { sectionsArm } from './sections.ts';
import { dialogueArm, tailArm } from './tail.ts';

export const ARM_NAMES = ['handover', 'sections', 'dialogue', 'tail', 'native', 'clear'] as const;
/** Those that are measured unless others are named. */
export const USUAL_ARMS: readonly ArmName[] = ARM_NAMES.filter((name) => name !== 'clear');
export type ArmName = (typeof ARM_NAMES)[number];

/** Every arm; what one has to write to disk goes below `folder`. */
export function makeArms(folder: string): Readonly<Record<ArmName, Arm>> {
  return {
    handover: makeHandoverArm(folder),
    sections: sectionsArm,
    dialogue: dialogueArm,
    tail: tailArm,
    native: nativeArm,
    clear: makeClearArm(folder),
  };
}

export function isArmName(text: string): text is ArmName {
  return ARM_NAMES.some((name) => name === text);
}
