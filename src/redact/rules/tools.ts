import { type Rule, token } from '../rule.ts';

/** Planning, design, documents, data, monitoring, sign-in. */
export const TOOL_RULES: readonly Rule[] = [
  token('linear-key', ['lin_api_', 'lin_oauth_'], /\w{32,128}/),
  token('notion-token', ['ntn_'], /\d{11}[A-Za-z0-9]{35}/),
  token('notion-token', ['secret_'], /(?=[A-Za-z0-9]{0,42}\d)[A-Za-z0-9]{43}(?![\w-])/),
  token('figma-token', ['figd_', 'figo_', 'figu_', 'figdr_'], /[\w-]{38,200}/),
  token('airtable-token', ['pat'], /[A-Za-z0-9]{14}\.[a-f0-9]{64}/),
  token('contentful-token', ['CFPAT-'], /[\w-]{43}/),
  token('asana-token', ['1/1', '2/1'], /\d{14,16}(?:\/\d{15,17})?:[a-f0-9]{32}/),
  token('clickup-token', ['pk_'], /\d{6,12}_[A-Z0-9]{32}/),
  token(
    'newrelic-key',
    ['NRAK-', 'NRII-', 'NRJS-', 'NRBR-', 'NRRA-', 'NRSP-'],
    /[A-Za-z0-9]{19,40}(?![\w-])/,
  ),
  token('dynatrace-token', ['dt0c01.', 'dt0s01.', 'dt0s16.'], /[A-Z0-9]{8,24}\.[A-Z0-9]{64}/),
  token('grafana-token', ['glc_'], /[A-Za-z0-9+/]{32,400}={0,2}/),
  token('grafana-token', ['glsa_'], /[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}/),
  token('grafana-key', ['eyJrIjoi'], /[A-Za-z0-9+/]{40,400}={0,2}/),
  token('sentry-token', ['sntrys_', 'sntryu_'], /[A-Za-z0-9+/=_-]{40,400}/),
  token('posthog-key', ['phx_', 'phs_'], /\w{40,60}/),
  token('honeycomb-key', ['hcaik_', 'hcbik_', 'hcxik_'], /\w{40,80}/),
  token('logfire-token', ['pylf_v1_'], /[a-z]{2}_[A-Za-z0-9]{40,60}/),
  token('mapbox-token', ['sk.eyJ'], /[\w-]{60,100}\.[\w-]{20,30}/),
  token('adafruit-key', ['aio_'], /[A-Za-z0-9]{28}(?![\w-])/),
  token('frameio-token', ['fio-u-'], /[\w=-]{64}/),
  token('okta-token', ['SSWS '], /(00[\w-]{38,42})/),
  token('workos-key', ['sk_a_', 'sk_test_a2V5'], /[A-Za-z0-9]{40,140}/),
  token('onepassword-token', ['ops_eyJ'], /[A-Za-z0-9+/=_-]{100,1500}/),
  token(
    'onepassword-key',
    ['A3-'],
    /[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}/,
  ),
  {
    kind: 'bitwarden-token',
    starts: ['0.'],
    thirds: '0123456789abcdef',
    pattern: /0\.[a-f0-9]{8}-[a-f0-9-]{27}\.[A-Za-z0-9]{30}:[A-Za-z0-9+/]{20,30}={0,2}/y,
  },
  token('zapier-webhook', ['hooks.zapier.com/hooks/'], /catch\/\d{4,12}\/[\w/]{5,40}/),
];
