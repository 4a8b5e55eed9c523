import { type Rule, token } from '../rule.ts';

/** Money and shops. */
export const PAYMENT_RULES: readonly Rule[] = [
  token('stripe-key', ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'sk_prod_'], /[A-Za-z0-9]{16,250}/),
  token('stripe-webhook-secret', ['whsec_'], /[A-Za-z0-9+/]{24,100}={0,2}/),
  token('square-token', ['EAAA'], /[\w-]{56,62}(?![\w-])/),
  token('square-token', ['sq0atp-', 'sq0csp-', 'sq0idp-'], /[\w-]{22,50}/),
  token(
    'braintree-token',
    ['access_token$production$', 'access_token$sandbox$'],
    /[a-z0-9]{16}\$[a-f0-9]{32}/,
  ),
  token('shopify-token', ['shpat_', 'shpca_', 'shppa_', 'shpss_', 'shpua_', 'shptka_'], /[A-Za-z0-9]{32,64}/),
  token(
    'plaid-token',
    ['access-production-', 'access-development-', 'access-sandbox-'],
    /[a-f0-9]{8}-[a-f0-9-]{27}/,
  ),
  token('shippo-token', ['shippo_live_', 'shippo_test_'], /[a-f0-9]{40}(?![\w-])/),
  token('easypost-key', ['EZAK', 'EZTK'], /[A-Za-z0-9]{54}(?![\w-])/),
  token('flutterwave-key', ['FLWSECK_TEST-', 'FLWSECK-', 'FLWSECK_LIVE-'], /[A-Za-z0-9]{12,40}(?:-X)?/),
  token('duffel-token', ['duffel_test_', 'duffel_live_'], /[\w=-]{40,60}/),
  token('razorpay-key', ['rzp_live_', 'rzp_test_'], /[A-Za-z0-9]{14,24}(?![\w-])/),
  token('coinbase-key', ['organizations/'], /[a-f0-9-]{36}\/apiKeys\/[a-f0-9-]{36}/),
];
