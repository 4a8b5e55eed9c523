/** A secret that shows by its shape. Every pattern is bounded, so that no text takes more than linear time. */
export interface Rule {
  kind: string;
  pattern: RegExp;
}

/** In this order: what an earlier rule took is not seen by a later one. */
export const RULES: readonly Rule[] = [
  {
    kind: 'private-key',
    pattern:
      /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]{0,20000}?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$(?![\s\S]))/g,
  },
  { kind: 'aws-access-key', pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g },
  { kind: 'github-token', pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{22,255})\b/g },
  { kind: 'gitlab-token', pattern: /\bglpat-[\w-]{20,60}/g },
  { kind: 'slack-token', pattern: /\bxox[abeoprs]-[\w-]{10,250}/g },
  { kind: 'slack-webhook', pattern: /\bhooks\.slack\.com\/services\/[\w/]{20,100}/g },
  { kind: 'anthropic-key', pattern: /\bsk-ant-[\w-]{20,250}/g },
  {
    kind: 'openai-key',
    pattern: /\bsk-(?:proj-|svcacct-|admin-)?(?=[\w-]{0,40}\d)[A-Za-z0-9][\w-]{31,250}/g,
  },
  { kind: 'google-key', pattern: /\bAIza[\w-]{35}/g },
  { kind: 'stripe-key', pattern: /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,250}/g },
  { kind: 'npm-token', pattern: /\bnpm_[A-Za-z0-9]{36}\b/g },
  { kind: 'pypi-token', pattern: /\bpypi-[\w-]{50,250}/g },
  { kind: 'hugging-face-token', pattern: /\bhf_[A-Za-z0-9]{30,60}\b/g },
  { kind: 'jwt', pattern: /\beyJ[\w-]{10,2000}\.eyJ[\w-]{10,4000}\.[\w-]{10,1000}/g },
  {
    kind: 'cut-token',
    pattern:
      /\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|sk-ant-|sk-proj-|AIza|[rs]k_(?:live|test)_|npm_|pypi-|hf_|eyJ)[\w-]{4,250}(?=…)/g,
  },
  { kind: 'bearer-token', pattern: /(?<=\bBearer )(?=[\w.~+/-]{0,60}\d)[\w.~+/-]{20,500}={0,2}/g },
  { kind: 'url-password', pattern: /(?<=:\/\/[^\s/:@]{1,100}:)(?![${<*])[^\s/@:]{3,200}(?=@[\w[])/g },
  {
    kind: 'assigned-secret',
    pattern:
      /(?<=\b[A-Z][A-Z0-9_]{0,40}(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY) ?= ?["']?)(?=[^\s"'`]{0,100}\d)[A-Za-z0-9+/_~.-]{12,250}={0,2}/g,
  },
];
