import { type Rule, token } from '../rule.ts';

const HEX = '0123456789abcdef';

/** Chats, mail and telephony. */
export const MESSAGING_RULES: readonly Rule[] = [
  token(
    'slack-token',
    [
      'xoxb-',
      'xoxp-',
      'xoxa-',
      'xoxo-',
      'xoxr-',
      'xoxs-',
      'xoxc-',
      'xoxd-',
      'xoxe-',
      'xoxe.xoxb-',
      'xoxe.xoxp-',
      'xapp-',
    ],
    /[\w%+/-]{10,250}/,
  ),
  token('slack-webhook', ['hooks.slack.com/'], /(?:services|workflows|triggers)\/[\w/]{20,120}/),
  token('discord-webhook', ['discord.com/api/', 'discordapp.com/api/'], /webhooks\/\d{15,20}\/[\w-]{60,80}/),
  {
    kind: 'discord-token',
    // How the base64 of the number begins that a user is known by.
    starts: [...'MNO'].flatMap((first) => [...'DTjz'].map((second) => first + second)),
    thirds: 'AEIMQUYcgk',
    pattern: /[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])/y,
  },
  { kind: 'telegram-token', pivots: [':AA'], before: [8, 10], pattern: /\d{8,10}:AA[\w-]{32,35}(?![\w-])/y },
  token(
    'teams-webhook',
    ['webhook.office.com/'],
    /webhookb2\/[\w@-]{30,120}\/IncomingWebhook\/[\w/-]{30,120}/,
  ),
  { kind: 'twilio-key', starts: ['SK'], thirds: HEX, pattern: /SK[a-f0-9]{32}(?![\w-])/y },
  token('sendgrid-key', ['SG.'], /[\w-]{16,32}\.[\w-]{16,64}/),
  token('mailgun-key', ['key-'], /[a-f0-9]{32}(?![\w-])/),
  {
    kind: 'mailgun-key',
    pivots: [...HEX].map((digit) => `-${digit}`),
    thirds: HEX,
    before: [32, 32],
    pattern: /[a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8}(?![\w-])/y,
  },
  { kind: 'mailchimp-key', pivots: ['-us'], before: [32, 32], pattern: /[a-f0-9]{32}-us\d{1,2}(?![\w-])/y },
  token('brevo-key', ['xkeysib-', 'xsmtpsib-'], /[a-f0-9]{64}-[A-Za-z0-9]{16}/),
  token('resend-key', ['re_'], /[A-Za-z0-9]{8}_[A-Za-z0-9]{22,28}(?![\w-])/),
  token('typeform-token', ['tfp_'], /[\w.-]{40,70}/),
  token('hubspot-token', ['pat-na1-', 'pat-na2-', 'pat-eu1-'], /[a-f0-9]{8}-[a-f0-9-]{27}/),
];
