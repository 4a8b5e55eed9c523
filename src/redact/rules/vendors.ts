import { type Rule, token } from '../rule.ts';
import { looksLikeWords } from '../values.ts';
import { COMMAND_RULES } from './commands.ts';
import { KEY_RULES, STATEMENT_RULES } from './keys.ts';

/** The characters of a token. */
const ALPHABETS: Readonly<Record<string, string>> = {
  h: '[a-f0-9]',
  z: '[a-z0-9]',
  U: '[A-Z0-9]',
  A: '[A-Za-z0-9]',
  w: '[\\w-]',
  b: '[\\w+/=-]',
  d: '[\\w.=-]',
};

/** Kind, beginnings, characters, and how many of them there are at least and at most. */
const TABLE = `
adobe-secret p8e- A 32 32
aiven-password AVNS_ w 16 40
alchemy-key alcht_ A 28 40
anyscale-key esecret_ z 24 40
apify-token apify_api_ A 30 50
axiom-token xaat-,xapt-,xait- w 36 36
backblaze-key K001,K002,K003,K004,K005 b 27 27
bitcoin-key xprv,yprv,zprv,tprv,uprv,vprv A 105 110
brave-key BSA w 27 28
browserbase-key bb_live_,bb_test_ w 24 40
calcom-key cal_live_,cal_test_ h 32 32
cerebras-key csk- z 40 60
checkly-key cu_ h 32 32
chromatic-token chpt_ z 12 40
chroma-key ck- A 40 50
clickhouse-key 4b1d A 38 38
cockroach-key CCDB1_ d 50 80
cursor-key crsr_,key_ h 64 64
dbt-token dbtc_,dbts_,dbtu_ w 36 80
defined-key dnkey- w 60 90
deno-token ddp_,ddo_,ddw_ A 36 40
digitalocean-spaces-key DO00 U 16 16
dingtalk-secret SEC h 64 64
dropbox-token sl.,sl.u. w 100 1500
e2b-key e2b_,sk_e2b_ h 40 48
elevenlabs-key sk_ h 48 48
exoscale-key EXO h 24 24
facebook-token EAAM,EAAC,EAAB,EAAG,EAAJ A 80 300
firecrawl-key fc- h 32 32
gitbook-token gb_api_ A 36 60
gitea-token gta_ h 40 40
google-hmac-key GOOG1E,GOOG U 20 61
growthbook-key secret_user_,secret_admin_,secret_readonly_ A 20 60
harness-token pat.,sat. d 60 90
helicone-key sk-helicone- w 20 60
honeybadger-token hbp_ A 30 50
inngest-key signkey-prod-,signkey-test-,signkey-branch- h 60 70
instagram-token IGQV,IGAA w 80 300
intercom-token dG9rO b 40 80
intra42-secret s-s4t2ud-,s-s4t2af- h 64 64
jina-key jina_ w 50 80
jsr-token jsrp_,jsrd_ A 30 60
klaviyo-key pk_ h 34 34
kong-token kpat_ A 40 60
lambdatest-key LT_ A 50 60
launchdarkly-key sdk-,api-,mob- uuid
linkedin-secret WPL_AP1. d 20 60
live-key live_ w 30 46
liveblocks-key sk_prod_,sk_dev_ w 16 250
llamacloud-key llx- A 40 60
mailersend-token mlsn. h 64 64
mandrill-key md- w 22 22
mem0-key m0- A 40 40
metabase-key mb_ b 44 44
modal-token ak-,as- A 22 22
mongodb-secret mdb_sa_sk_ w 40 40
n8n-key n8n_api_ w 60 160
nostr-key nsec1 z 58 58
octopus-key API- U 26 32
onesignal-key os_v2_app_,os_v2_org_ z 80 120
openshift-token sha256~ w 43 43
packagist-token packagist_ w 60 100
paddle-key pdl_live_apikey_,pdl_sdbx_apikey_ w 30 70
paypal-token A21AA w 60 120
percy-token web_ h 64 64
pinterest-token pina_ A 60 160
polar-token polar_oat_,polar_pat_ A 36 60
replay-key ruk_,rwk_ A 40 60
retool-token retool_01 z 24 30
runpod-key rpa_ A 40 50
salesforce-key 3MVG A 70 100
scalingo-token tk-us- w 48 48
settlemint-token sm_aat_,sm_pat_,sm_sat_ A 16 20
slack-token xwfp- w 20 250
snowflake-token ETMsDgAA b 80 400
socket-key sktsec_ w 40 80
sourcegraph-token sgamp_user_,sgd_ d 40 120
statsig-key secret- A 40 50
stytch-secret secret-live-,secret-test- d 30 60
tinybird-token p.eyJ d 60 300
together-key tgp_v1_ w 40 50
trello-token ATTA h 60 80
trigger-key tr_dev_,tr_prod_,tr_stg_,tr_pat_ A 20 40
turbopuffer-key tpuf_ A 30 50
twitch-token oauth: z 30 30
twitter-token AAAAAAAAAAAAAAAAAAAAA d 60 120
unkey-key unkey_ A 20 60
upcloud-token ucat_ A 26 40
uploadthing-secret sk_live_ut_ A 20 80
vercel-blob-token vercel_blob_rw_ w 40 80
voyage-key pa- w 43 43
xata-key xau_ A 28 60
zuplo-key zpka_ w 41 80
`;

const UUID = /[a-f0-9]{8}-(?:[a-f0-9]{4}-){3}[a-f0-9]{12}/;

function readRow(row: string): Rule {
  const [kind = '', starts = '', set = '', least, most] = row.split(' ');
  const body = set === 'uuid' ? UUID : new RegExp(`${ALPHABETS[set]}{${least},${most}}(?![A-Za-z0-9])`);
  // Many of these beginnings are those of words.
  const length = Math.min(...starts.split(',').map((start) => start.length));
  return { ...token(kind, starts.split(','), body), check: (found) => !looksLikeWords(found.slice(length)) };
}

/** Tokens that are known by how they begin, and are all alike otherwise. */
const PREFIX_RULES: readonly Rule[] = [
  ...TABLE.trim().split('\n').map(readRow),
  token('salesforce-token', ['00D'], /[A-Za-z0-9]{12,15}![\w.]{60,200}/),
  token('authress-key', ['sc_', 'scauth_'], /[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[\w+/=-]{30,120}/),
  token('jetbrains-token', ['perm:', 'perm-'], /[\w=-]{4,60}\.[\w=-]{4,60}\.[A-Za-z0-9]{30,60}/),
  token('discord-token', ['mfa.'], /(?=[\w-]{0,80}\d)[\w-]{80,95}/),
  token(
    'adyen-key',
    ['AQE'],
    /[A-Za-z0-9]{1,10}h[A-Za-z0-9+/]{40,200}(?:-[A-Za-z0-9+/=]{20,80}-[\w+/={}[\]()^<>,.:;!@#$%&*~|-]{8,40})?/,
  ),
  { kind: 'azure-devops-token', pivots: ['AZDO'], before: [76, 76], pattern: /[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}/y },
  { kind: 'azure-key', pivots: ['JQQJ99'], before: [52, 52], pattern: /[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26,32}/y },
  { kind: 'azure-search-key', pivots: ['AzSe'], before: [42, 42], pattern: /[A-Za-z0-9]{42}AzSe[A-D][A-Za-z0-9]{5}/y },
  { kind: 'maxmind-key', pivots: ['_mmk'], before: [36, 36], pattern: /[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk/y },
  { kind: 'firebase-key', pivots: [':APA91b'], before: [11, 11], pattern: /[\w-]{11}:APA91b[\w-]{120,180}/y },
  { kind: 'azure-key', pivots: ['+ASt', 'ACDb'], before: [76, 76], pattern: /[\w+/]{76}(?:\+ASt|ACDb)[\w+/]{5,6}==/y },
  token('copilot-token', ['tid='], /[a-f0-9]{32};exp=\d{10};[^\s"']{20,1000}/),
  token('feishu-webhook', ['open.feishu.cn/', 'open.larksuite.com/'], /open-apis\/bot\/v2\/hook\/[a-f0-9-]{36}/),
  token('wecom-webhook', ['qyapi.weixin.qq.com/'], /cgi-bin\/webhook\/send\?key=[a-f0-9-]{36}/),
  token('ifttt-webhook', ['maker.ifttt.com/'], /trigger\/[\w-]{1,60}\/(?:json\/)?with\/key\/[\w-]{20,60}/),
  token(
    'make-webhook',
    ['hook.eu1.make.com/', 'hook.eu2.make.com/', 'hook.us1.make.com/', 'hook.us2.make.com/'],
    /[a-z0-9]{30,40}/,
  ),
];

const HEX = '0123456789abcdef';

/** Of two rules that match at one place and begin alike, the first decides the kind. */
export const RULES: readonly Rule[] = [
  ...KEY_RULES,
  ...COMMAND_RULES,
  ...STATEMENT_RULES,

  // Code hosting, CI and package registries.
  token('github-token', ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], /[A-Za-z0-9]{36,255}/),
  token('github-token', ['github_pat_'], /\w{22,255}/),
  token(
    'gitlab-token',
    'glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- glwt-'.split(' '),
    /[\w.-]{20,255}/,
  ),
  token('gitlab-runner-token', ['GR1348941'], /[\w-]{20,50}/),
  token('bitbucket-token', ['ATBB', 'ATCTT3xFfG'], /[A-Za-z0-9_=-]{28,250}/),
  token('atlassian-token', ['ATATT3xFfG'], /[A-Za-z0-9_=-]{100,250}/),
  token('npm-token', ['npm_'], /[A-Za-z0-9]{36}(?![A-Za-z0-9])/),
  token(
    'npm-auth',
    ['_authToken=', '_authToken = ', '_auth=', '_auth = ', '_password='],
    /(?!\$)["']?([A-Za-z0-9+/_.~-]{16,250}={0,2})/,
  ),
  token('pypi-token', ['pypi-AgE', 'pypi-'], /[\w-]{50,250}/),
  token('rubygems-key', ['rubygems_'], /[a-f0-9]{48}(?![A-Za-z0-9])/),
  token('docker-hub-token', ['dckr_pat_', 'dckr_oat_'], /[\w-]{27,40}/),
  token('nuget-key', ['oy2'], /[a-z0-9]{43}(?![A-Za-z0-9])/),
  token('crates-token', ['cio'], /[A-Za-z0-9]{32}(?![A-Za-z0-9])/),
  token('clojars-token', ['CLOJARS_'], /[a-z0-9]{60}(?![A-Za-z0-9])/),
  token('jfrog-token', ['AKCp', 'cmVmdGtuOj'], /[A-Za-z0-9]{50,100}(?![A-Za-z0-9])/),
  token('circleci-token', ['CCIPAT_', 'CCIPRJ_'], /\w{40,80}/),
  token('buildkite-token', ['bkua_', 'bkaj_'], /[a-f0-9]{40}(?![A-Za-z0-9])/),
  token('sonar-token', ['squ_', 'sqp_', 'sqa_'], /[a-f0-9]{40}(?![A-Za-z0-9])/),
  token('sourcegraph-token', ['sgp_'], /(?:(?:[a-f0-9]{16}|local)_)?[a-f0-9]{40}(?![A-Za-z0-9])/),
  token('postman-key', ['PMAK-'], /[a-f0-9]{24}-[a-f0-9]{34}/),
  token('prefect-key', ['pnu_', 'pnb_'], /[A-Za-z0-9]{36}(?![A-Za-z0-9])/),
  token('readme-key', ['rdme_'], /[a-z0-9]{70}(?![A-Za-z0-9])/),
  token('snyk-token', ['snyk_uat.', 'snyk_sat.'], /[\w.-]{30,100}/),

  // Language models and their tools.
  token('anthropic-key', ['sk-ant-'], /[\w-]{20,250}/),
  token('openrouter-key', ['sk-or-v1-'], /[a-f0-9]{64}/),
  token('langfuse-key', ['sk-lf-'], /[a-f0-9]{8}-[a-f0-9-]{27}/),
  token('openai-key', ['sk-proj-', 'sk-svcacct-', 'sk-admin-', 'sk-None-'], /(?=[\w-]{0,60}\d)[\w-]{31,250}/),
  token('openai-key', ['sk-'], /(?=[A-Za-z0-9]{0,60}\d)[A-Za-z0-9]{32,64}(?![A-Za-z0-9])/),
  token('openai-session', ['sess-'], /[A-Za-z0-9]{40}(?![A-Za-z0-9])/),
  token('hugging-face-token', ['hf_', 'api_org_'], /[A-Za-z0-9]{30,60}(?![A-Za-z0-9])/),
  token('groq-key', ['gsk_'], /[A-Za-z0-9]{52}(?![A-Za-z0-9])/),
  token('xai-key', ['xai-'], /[A-Za-z0-9]{80}(?![A-Za-z0-9])/),
  token('perplexity-key', ['pplx-'], /[A-Za-z0-9]{48,56}(?![A-Za-z0-9])/),
  token('replicate-token', ['r8_'], /[A-Za-z0-9]{37}(?![A-Za-z0-9])/),
  token('fireworks-key', ['fw_'], /[A-Za-z0-9]{22,24}(?![A-Za-z0-9])/),
  token('tavily-key', ['tvly-'], /(?:dev-|prod-)?[A-Za-z0-9]{32}(?![A-Za-z0-9])/),
  token('langsmith-key', ['lsv2_pt_', 'lsv2_sk_'], /[a-f0-9]{32}_[a-f0-9]{10}/),
  token('wandb-key', ['wandb_v1_'], /\w{40,100}/),
  token('nvidia-key', ['nvapi-'], /[\w-]{60,70}/),

  // Clouds, hosting, infrastructure and databases.
  // Those of its documentation end in `EXAMPLE`.
  token('aws-access-key', ['AKIA', 'ASIA', 'ABIA', 'ACCA'], /(?![0-9A-Z]{9}EXAMPLE)[0-9A-Z]{16}(?![0-9A-Za-z_])/),
  token('aws-bedrock-key', ['ABSK'], /[A-Za-z0-9+/]{100,250}={0,2}/),
  token('google-key', ['AIza'], /[\w-]{35}/),
  token('google-oauth-token', ['ya29.'], /[\w-]{20,250}/),
  token('google-oauth-secret', ['GOCSPX-'], /[\w-]{28}/),
  token('google-refresh-token', ['1//0'], /[\w-]{35,100}/),
  token('azure-storage-key', ['AccountKey=', 'accountKey='], /([A-Za-z0-9+/]{86}==)/),
  token('azure-shared-key', ['SharedAccessKey=', 'sharedAccessKey='], /([A-Za-z0-9+/]{40,100}=)/),
  token('azure-sas', ['sig='], /([A-Za-z0-9%+/]{43,70}(?:%3[Dd]|=))/),
  {
    kind: 'azure-client-secret',
    pivots: ['Q~'],
    thirds: 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.~-',
    before: [4, 4],
    pattern: /[A-Za-z0-9_.]{3}\dQ~[A-Za-z0-9_.~-]{31,40}/y,
  },
  token('alibaba-access-key', ['LTAI'], /[A-Za-z0-9]{17,26}(?![A-Za-z0-9])/),
  token('tencent-secret-id', ['AKID'], /[A-Za-z0-9]{32}(?![A-Za-z0-9])/),
  token('yandex-key', ['AQVN', 't1.9eu', 'y0_', 'y1_', 'y2_', 'YCAJ', 'YCM', 'YCO', 'YCP'], /[A-Za-z0-9_.=-]{35,300}/),
  token('digitalocean-token', ['dop_v1_', 'doo_v1_', 'dor_v1_'], /[a-f0-9]{64}/),
  token('heroku-key', ['HRKU-AA'], /[\w-]{50,80}/),
  token('cloudflare-token', ['cfut_', 'cfat_', 'cfk_'], /[A-Za-z0-9_-]{40,60}/),
  token('cloudflare-origin-key', ['v1.0-'], /[a-f0-9]{24}-[a-f0-9]{146}/),
  token('fly-token', ['fm1r_', 'fm1a_', 'fm2_', 'fo1_'], /[A-Za-z0-9+/=,_-]{40,2000}/),
  token('render-key', ['rnd_'], /[A-Za-z0-9]{28,40}(?![A-Za-z0-9])/),
  token('vercel-token', ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_'], /[A-Za-z0-9]{20,60}(?![A-Za-z0-9])/),
  token('netlify-token', ['nfp_', 'nfc_', 'nfo_', 'nfu_', 'nfb_'], /[A-Za-z0-9]{36}(?![A-Za-z0-9])/),
  token('tailscale-key', ['tskey-'], /[a-z]{2,12}-[A-Za-z0-9-]{20,80}/),
  token('vault-token', ['hvs.', 'hvb.', 'hvr.'], /[\w-]{24,300}/),
  {
    kind: 'terraform-cloud-token',
    pivots: ['.atlasv1.'],
    before: [14, 14],
    pattern: /[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,70}/y,
  },
  token('pulumi-token', ['pul-'], /[a-f0-9]{40}(?![A-Za-z0-9])/),
  token('scaleway-key', ['SCW'], /[A-Z0-9]{17}(?![A-Za-z0-9])/),
  token('infracost-key', ['ico-'], /[A-Za-z0-9]{32}(?![A-Za-z0-9])/),
  token('supabase-key', ['sbp_', 'sb_secret_'], /[\w-]{28,80}/),
  token('planetscale-token', ['pscale_tkn_', 'pscale_pw_', 'pscale_oauth_'], /[\w.=-]{32,64}/),
  token('neon-key', ['napi_'], /[A-Za-z0-9]{32,80}(?![A-Za-z0-9])/),
  token('databricks-token', ['dapi'], /[a-f0-9]{32}(?:-\d)?(?![A-Za-z0-9])/),
  token('confluent-key', ['cflt'], /[A-Za-z0-9+/]{56,70}/),
  token('pinecone-key', ['pcsk_'], /\w{40,80}/),
  token('doppler-token', ['dp.pt.', 'dp.st.', 'dp.ct.', 'dp.sa.', 'dp.scim.', 'dp.audit.'], /[\w.-]{40,80}/),

  // Chat, mail and telephony.
  token(
    'slack-token',
    'xoxb- xoxp- xoxa- xoxo- xoxr- xoxs- xoxc- xoxd- xoxe- xoxe.xoxb- xoxe.xoxp- xapp-'.split(' '),
    /[\w%+/-]{10,250}/,
  ),
  token('slack-webhook', ['hooks.slack.com/'], /(?:services|workflows|triggers)\/[\w/]{20,120}/),
  token('discord-webhook', ['discord.com/api/', 'discordapp.com/api/'], /webhooks\/\d{15,20}\/[\w-]{60,80}/),
  {
    kind: 'discord-token',
    // The beginnings of the base64 of a user's number.
    starts: [...'MNO'].flatMap((first) => [...'DTjz'].map((second) => first + second)),
    thirds: 'AEIMQUYcgk',
    pattern: /[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![A-Za-z0-9])/y,
  },
  { kind: 'telegram-token', pivots: [':AA'], before: [8, 10], pattern: /\d{8,10}:AA[\w-]{32,35}(?![A-Za-z0-9])/y },
  token('teams-webhook', ['webhook.office.com/'], /webhookb2\/[\w@-]{30,120}\/IncomingWebhook\/[\w/-]{30,120}/),
  { kind: 'twilio-key', starts: ['SK'], thirds: HEX, pattern: /SK[a-f0-9]{32}(?![A-Za-z0-9])/y },
  token('sendgrid-key', ['SG.'], /[\w-]{16,32}\.[\w-]{16,64}/),
  token('mailgun-key', ['key-'], /[a-f0-9]{32}(?![A-Za-z0-9])/),
  {
    kind: 'mailgun-key',
    pivots: [...HEX].map((digit) => `-${digit}`),
    thirds: HEX,
    before: [32, 32],
    pattern: /[a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8}(?![A-Za-z0-9])/y,
  },
  { kind: 'mailchimp-key', pivots: ['-us'], before: [32, 32], pattern: /[a-f0-9]{32}-us\d{1,2}(?![A-Za-z0-9])/y },
  token('brevo-key', ['xkeysib-', 'xsmtpsib-'], /[a-f0-9]{64}-[A-Za-z0-9]{16}/),
  token('resend-key', ['re_'], /[A-Za-z0-9]{8}_[A-Za-z0-9]{22,28}(?![A-Za-z0-9])/),
  token('typeform-token', ['tfp_'], /[\w.-]{40,70}/),
  token('hubspot-token', ['pat-na1-', 'pat-na2-', 'pat-eu1-', 'pat-ap1-'], /[a-f0-9]{8}-[a-f0-9-]{27}/),

  // Payments and shops.
  token(
    'stripe-key',
    ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'rk_prod_', 'sk_org_live_'],
    /[A-Za-z0-9]{10,250}/,
  ),
  token('stripe-webhook-secret', ['whsec_'], /[A-Za-z0-9+/]{24,100}={0,2}/),
  token('square-token', ['EAAA'], /[\w-]{56,62}(?![A-Za-z0-9])/),
  token('square-token', ['sq0atp-', 'sq0csp-', 'sq0idp-'], /[\w-]{22,50}/),
  token('braintree-token', ['access_token$production$', 'access_token$sandbox$'], /[a-z0-9]{16}\$[a-f0-9]{32}/),
  token('shopify-token', ['shpat_', 'shpca_', 'shppa_', 'shpss_', 'shpua_', 'shptka_'], /[A-Za-z0-9]{32,64}/),
  token('plaid-token', ['access-production-', 'access-development-', 'access-sandbox-'], /[a-f0-9]{8}-[a-f0-9-]{27}/),
  token('shippo-token', ['shippo_live_', 'shippo_test_'], /[a-f0-9]{40}(?![A-Za-z0-9])/),
  token('easypost-key', ['EZAK', 'EZTK'], /[A-Za-z0-9]{54}(?![A-Za-z0-9])/),
  token('flutterwave-key', ['FLWSECK_TEST-', 'FLWSECK-', 'FLWSECK_LIVE-'], /[A-Za-z0-9]{12,40}(?:-X)?/),
  token('duffel-token', ['duffel_test_', 'duffel_live_'], /[\w=-]{40,60}/),
  token('razorpay-key', ['rzp_live_', 'rzp_test_'], /[A-Za-z0-9]{14,24}(?![A-Za-z0-9])/),
  token('coinbase-key', ['organizations/'], /[a-f0-9-]{36}\/apiKeys\/[a-f0-9-]{36}/),

  // Planning, design, documents, monitoring, sign-in.
  token('linear-key', ['lin_api_', 'lin_oauth_'], /\w{32,128}/),
  token('notion-token', ['ntn_'], /\d{11}[A-Za-z0-9]{35}/),
  token('notion-token', ['secret_'], /(?=[A-Za-z0-9]{0,42}\d)[A-Za-z0-9]{43}(?![A-Za-z0-9])/),
  token('figma-token', ['figd_', 'figo_', 'figu_', 'figdr_'], /[\w-]{38,200}/),
  token('airtable-token', ['pat'], /[A-Za-z0-9]{14}\.[a-f0-9]{64}/),
  token('contentful-token', ['CFPAT-'], /[\w-]{43}/),
  token('asana-token', ['1/1', '2/1'], /\d{14,16}(?:\/\d{15,17})?:[a-f0-9]{32}/),
  token('clickup-token', ['pk_'], /\d{6,12}_[A-Z0-9]{32}/),
  token('newrelic-key', 'NRAK- NRII- NRJS- NRBR- NRRA- NRSP-'.split(' '), /[A-Za-z0-9]{19,40}(?![A-Za-z0-9])/),
  token('dynatrace-token', ['dt0c01.', 'dt0s01.', 'dt0s16.'], /[A-Z0-9]{8,24}\.[A-Z0-9]{64}/),
  token('grafana-token', ['glc_'], /[A-Za-z0-9+/]{32,400}={0,2}/),
  token('grafana-token', ['glsa_'], /[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}/),
  token('grafana-key', ['eyJrIjoi'], /[A-Za-z0-9+/]{40,400}={0,2}/),
  token('sentry-token', ['sntrys_', 'sntryu_'], /[A-Za-z0-9+/=_-]{40,400}/),
  token('posthog-key', ['phx_', 'phs_'], /\w{40,60}/),
  token('honeycomb-key', ['hcaik_', 'hcbik_', 'hcxik_'], /\w{40,80}/),
  token('logfire-token', ['pylf_v1_'], /[a-z]{2}_[A-Za-z0-9]{40,60}/),
  token('mapbox-token', ['sk.eyJ'], /[\w-]{60,100}\.[\w-]{20,30}/),
  token('adafruit-key', ['aio_'], /[A-Za-z0-9]{28}(?![A-Za-z0-9])/),
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
    thirds: HEX,
    pattern: /0\.[a-f0-9]{8}-[a-f0-9-]{27}\.[A-Za-z0-9]{30}:[A-Za-z0-9+/]{20,30}={0,2}/y,
  },
  ...PREFIX_RULES,
  token('zapier-webhook', ['hooks.zapier.com/hooks/'], /catch\/\d{4,12}\/[\w/]{5,40}/),
];

/** By the list of their numbers, which a start keeps. */
const PICKED = new WeakMap<readonly number[], readonly Rule[]>();

export function pickRules(numbers: readonly number[]): readonly Rule[] {
  const known = PICKED.get(numbers);
  if (known !== undefined) return known;
  const rules = numbers.flatMap((number) => RULES[number] ?? []);
  PICKED.set(numbers, rules);
  return rules;
}
