import { type Rule, token } from '../rule.ts';

/** Providers of language models, and what is used with them. */
export const MODEL_RULES: readonly Rule[] = [
  token('anthropic-key', ['sk-ant-'], /[\w-]{20,250}/),
  token('openrouter-key', ['sk-or-v1-'], /[a-f0-9]{64}/),
  token('langfuse-key', ['sk-lf-'], /[a-f0-9]{8}-[a-f0-9-]{27}/),
  token('openai-key', ['sk-proj-', 'sk-svcacct-', 'sk-admin-', 'sk-None-'], /(?=[\w-]{0,60}\d)[\w-]{31,250}/),
  token('openai-key', ['sk-'], /(?=[A-Za-z0-9]{0,60}\d)[A-Za-z0-9]{32,64}(?![\w-])/),
  token('openai-session', ['sess-'], /[A-Za-z0-9]{40}(?![\w-])/),
  token('hugging-face-token', ['hf_', 'api_org_'], /[A-Za-z0-9]{30,60}(?![\w-])/),
  token('groq-key', ['gsk_'], /[A-Za-z0-9]{52}(?![\w-])/),
  token('xai-key', ['xai-'], /[A-Za-z0-9]{80}(?![\w-])/),
  token('perplexity-key', ['pplx-'], /[A-Za-z0-9]{48,56}(?![\w-])/),
  token('replicate-token', ['r8_'], /[A-Za-z0-9]{37}(?![\w-])/),
  token('fireworks-key', ['fw_'], /[A-Za-z0-9]{22,24}(?![\w-])/),
  token('tavily-key', ['tvly-'], /(?:dev-|prod-)?[A-Za-z0-9]{32}(?![\w-])/),
  token('langsmith-key', ['lsv2_pt_', 'lsv2_sk_'], /[a-f0-9]{32}_[a-f0-9]{10}/),
  token('wandb-key', ['wandb_v1_'], /\w{40,100}/),
  token('nvidia-key', ['nvapi-'], /[\w-]{60,70}/),
];
