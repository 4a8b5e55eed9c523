import type { Rule } from '../rule.ts';
import { CLOUD_RULES } from './cloud.ts';
import { FORGE_RULES } from './forges.ts';
import { KEY_RULES } from './keys.ts';
import { MESSAGING_RULES } from './messaging.ts';
import { MODEL_RULES } from './models.ts';
import { PAYMENT_RULES } from './payments.ts';
import { TOOL_RULES } from './tools.ts';

/** In this order: of two rules that fit one place and begin alike, the first one names what it is. */
export const RULES: readonly Rule[] = [
  ...KEY_RULES,
  ...FORGE_RULES,
  ...MODEL_RULES,
  ...CLOUD_RULES,
  ...MESSAGING_RULES,
  ...PAYMENT_RULES,
  ...TOOL_RULES,
];
