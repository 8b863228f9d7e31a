/**
 * Forms in which secrets are written, one row each. Masking, the warnings about `waygate.json` and the import read this
 * table and the names in `names.ts`; nothing else in the program knows the form of a secret.
 *
 * A row is found in linear time: a run without a bound is entered only at its beginning, or excludes the character that
 * begins the next attempt.
 */
export type SecretShape = TokenShape | PhraseShape;

/** Place of a secret in a text. */
export interface FoundSecret {
  /** Begin and end of everything that identifies the secret, its name included. */
  readonly from: number;
  readonly to: number;
  /** Begin and end of the secret itself. */
  readonly start: number;
  readonly end: number;
  /** Name of the secret in the text. */
  readonly label?: string;
}

/** Token that an issuer begins with a fixed prefix. */
export interface TokenShape {
  readonly issuer: string;
  readonly prefixes: readonly string[];
  /** Rest of the token. A letter or digit after it belongs to a longer word, which is no token. */
  readonly body: RegExp;
  /** Refuses a body made of words. */
  readonly random?: true;
  /** Body of an example; joined with each prefix. */
  readonly example: string;
}

/** Secret recognised by its surroundings or its inner structure. */
export interface PhraseShape {
  readonly issuer: string;
  /** The group `secret` is the secret; without the group, the whole match. */
  readonly pattern: RegExp;
  /** Literal without which a text has no match. */
  readonly hint?: RegExp;
  /** Words without which a text has no match, in any case. */
  readonly words?: readonly string[];
  readonly accepts?: (secret: string) => boolean;
  /** Text with its secret between « and ». */
  readonly example: string;
}

/** Example bodies are cut from these, so that scanners of this repository report none. */
const MIXED = 'q7Rw2Zx9Lk4Tn8Vb3Mc6Hj1Pd5Fg0YsWa2Ue7Io4Qt9Xr1Kz8Nl3Bv6Cm5Jh0Gf'.repeat(3);
const HEX = '9f4c1e7ab2d80356'.repeat(10);
const mixed = (length: number): string => MIXED.slice(0, length);
const hex = (length: number): string => HEX.slice(0, length);

function token(issuer: string, prefixes: string, body: RegExp, example: string): TokenShape {
  return { issuer, prefixes: prefixes.split(' '), body, example };
}

const TOKENS: readonly TokenShape[] = [
  token('AWS access key', 'AKIA ASIA AGPA AIDA AROA ANPA ANVA ABIA ACCA', /[A-Z0-9]{16}/, 'Q7RW2ZX5LK4TNVB3'),
  token('AWS Bedrock', 'ABSK', /[A-Za-z0-9+/]{80,}={0,2}/, mixed(120)),
  token('AWS Bedrock, short-lived', 'bedrock-api-key-', /[A-Za-z0-9+/]{20,}={0,2}/, mixed(60)),
  token('Google API', 'AIza', /[\w-]{30,}/, mixed(35)),
  token('Google OAuth', 'ya29. GOCSPX- 1//0', /[\w-]{20,}/, mixed(40)),
  // Installation tokens may carry a JSON web token.
  token('GitHub', 'ghp_ gho_ ghu_ ghs_ ghr_', /\w{16,}(?:\.[\w-]+){0,2}/, mixed(36)),
  token('GitHub, fine-grained', 'github_pat_', /\w{20,}/, `${mixed(22)}_${mixed(59)}`),
  // Routable tokens end in a length and a checksum.
  token(
    'GitLab',
    'glpat- gldt- glrt- glrtr- glptt- glcbt- glft- glimt- glagent- gloas- glsoat- glffct- glwt- GR1348941',
    /[\w-]{16,}(?:\.[0-9a-z]{2,12}){0,2}/,
    mixed(20),
  ),
  token('Bitbucket', 'ATBB', /[A-Za-z0-9]{24,}/, mixed(32)),
  token('Atlassian', 'ATATT3 ATCTT3 ATSTT3', /[\w=-]{20,}/, `${mixed(60)}=${hex(8).toUpperCase()}`),
  token('npm', 'npm_', /[A-Za-z0-9]{30,}/, mixed(36)),
  token('PyPI', 'pypi-AgE', /[\w-]{16,}/, `IcHlwaS5vcmc${mixed(60)}`),
  token('RubyGems', 'rubygems_', /[0-9a-f]{32,}/, hex(48)),
  token('crates.io', 'cio', /[A-Za-z0-9]{32}/, mixed(32)),
  token('NuGet', 'oy2', /[a-z0-9]{43}/, mixed(43).toLowerCase()),
  token('Docker', 'dckr_pat_ dckr_oat_', /[\w-]{20,}/, mixed(27)),
  token('Artifactory', 'AKCp cmVmd', /[A-Za-z0-9]{59,}/, mixed(69)),
  token('Hugging Face', 'hf_ api_org_', /[A-Za-z0-9]{20,}/, mixed(34)),
  token('Anthropic', 'sk-ant-', /[\w-]{16,}/, `api03-${mixed(93)}AA`),
  token('OpenAI', 'sk-proj- sk-svcacct- sk-admin-', /[\w-]{20,}/, mixed(74)),
  token('Groq', 'gsk_', /[A-Za-z0-9]{20,}/, mixed(52)),
  token('xAI', 'xai-', /[A-Za-z0-9]{40,}/, mixed(80)),
  token('Perplexity', 'pplx-', /[A-Za-z0-9]{20,}/, mixed(48)),
  token('Tavily', 'tvly-', /[\w-]{20,}/, `dev-${mixed(32)}`),
  token('Replicate', 'r8_', /[A-Za-z0-9]{20,}/, mixed(37)),
  token('NVIDIA', 'nvapi-', /[\w-]{40,}/, mixed(64)),
  token('Firecrawl', 'fc-', /[0-9a-f]{32}/, hex(32)),
  token('Context7', 'ctx7sk-', /[\w-]{20,}/, mixed(36)),
  token('LangSmith', 'lsv2_pt_ lsv2_sk_', /\w{20,}/, `${hex(32)}_${hex(10)}`),
  token('Stripe webhook', 'whsec_', /[A-Za-z0-9+/=]{20,}/, mixed(32)),
  token('Square', 'sq0atp- sq0csp-', /[\w-]{20,}/, mixed(22)),
  token('Shopify', 'shpat_ shpca_ shppa_ shpss_ shptka_ shpua_', /[0-9A-Fa-f]{20,}/, hex(32)),
  token('Shippo', 'shippo_live_ shippo_test_', /[0-9a-f]{40}/, hex(40)),
  token('Slack', 'xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-', /[A-Za-z0-9%-]{10,}/, mixed(40)),
  token('Slack, rotated', 'xoxe.xoxb- xoxe.xoxp-', /[A-Za-z0-9-]{10,}/, `1-${mixed(60)}`),
  token('SendGrid', 'SG.', /[\w-]{16,64}\.[\w-]{16,64}/, `${mixed(22)}.${mixed(43)}`),
  token('Twilio', 'SK', /[0-9a-f]{32}/, hex(32)),
  token('Mailgun', 'key- pubkey-', /[0-9a-f]{32}/, hex(32)),
  token('Brevo', 'xkeysib- xsmtpsib-', /[0-9a-f]{64}-[A-Za-z0-9]{16}/, `${hex(64)}-${mixed(16)}`),
  token('Notion', 'ntn_ secret_', /[A-Za-z0-9]{20,}/, mixed(43)),
  token('Linear', 'lin_api_ lin_oauth_ lin_wh_', /[A-Za-z0-9]{20,}/, mixed(40)),
  token('Figma', 'figd_ figo_', /[\w-]{20,}/, mixed(40)),
  token('Airtable', 'pat', /[A-Za-z0-9]{14}\.[0-9a-f]{64}/, `${mixed(14)}.${hex(64)}`),
  token(
    'HubSpot',
    'pat-na1- pat-na2- pat-eu1- pat-ap1-',
    /[0-9a-f-]{30,}/,
    `${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`,
  ),
  token(
    'Harness',
    'pat. sat.',
    /[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}/,
    `${mixed(22)}.${mixed(24)}.${mixed(20)}`,
  ),
  token('Typeform', 'tfp_', /[\w.=-]{40,}/, mixed(59)),
  token('Contentful', 'CFPAT-', /[\w-]{40,}/, mixed(43)),
  token('Postman', 'PMAK- PMAT-', /[A-Za-z0-9-]{20,}/, `${hex(24)}-${hex(34)}`),
  token('Grafana', 'glsa_', /\w{20,}/, `${mixed(32)}_${hex(8)}`),
  token('Grafana Cloud', 'glc_', /[A-Za-z0-9+/]{32,}={0,3}/, mixed(90)),
  token('Grafana, legacy', 'eyJrIjoi', /[A-Za-z0-9+/]{40,}={0,3}/, mixed(80)),
  token('Sentry', 'sntrys_ sntryu_', /[\w+/=-]{20,}/, `${mixed(64)}_${mixed(43)}`),
  token('New Relic', 'NRAK- NRII- NRJS- NRAA-', /[A-Za-z0-9-]{19,}/, mixed(27)),
  token('Dynatrace', 'dt0c01. dt0s01.', /[A-Z0-9]{24}\.[A-Z0-9]{64}/, `${mixed(24)}.${mixed(64)}`.toUpperCase()),
  token('PostHog', 'phx_', /[A-Za-z0-9]{30,}/, mixed(43)),
  token('Databricks', 'dapi dose dkea', /[0-9a-f]{28,}(?:-\d)?/, hex(32)),
  token('DigitalOcean', 'dop_v1_ doo_v1_ dor_v1_', /[0-9a-f]{32,}/, hex(64)),
  token('Heroku', 'HRKU-', /[\w-]{30,}/, `AA${mixed(58)}`),
  token('Fly.io', 'fo1_ fm1a_ fm1r_ fm2_', /[\w+/=-]{40,}/, mixed(100)),
  token('Supabase', 'sbp_ sb_secret_', /[\w-]{20,}/, hex(40)),
  token('PlanetScale', 'pscale_tkn_ pscale_oauth_ pscale_pw_', /[\w=.-]{32,64}/, mixed(43)),
  token('Doppler', 'dp.pt. dp.st. dp.ct. dp.sa. dp.scim.', /[\w.-]{40,}/, mixed(43)),
  token('Pulumi', 'pul-', /[0-9a-f]{40}/, hex(40)),
  token('Prefect', 'pnu_ pnb_', /[A-Za-z0-9]{36}/, mixed(36)),
  token('Sourcegraph', 'sgp_ slk_', /\w{40,}/, `${hex(16)}_${hex(40)}`),
  token('SonarQube', 'squ_ sqp_ sqa_', /[0-9a-f]{40}/, hex(40)),
  token('Alibaba Cloud', 'LTAI', /[A-Za-z0-9]{16,26}/, mixed(20)),
  token('OpenShift', 'sha256~', /[\w-]{43}/, mixed(43)),
  token('Octopus Deploy', 'API-', /[A-Z0-9]{25,}/, mixed(26).toUpperCase()),
  token('1Password', 'ops_eyJ', /[\w+/=-]{40,}/, mixed(180)),
  token('age', 'AGE-SECRET-KEY-1', /[A-Z0-9]{40,}/, mixed(58).toUpperCase()),
  token('Vault', 'hvs. hvb. hvr.', /[\w-]{20,}/, mixed(90)),
  token(
    'JSON web token',
    'eyJ',
    /[\w-]{2,}\.(?:eyJ[\w-]{2,}(?:\.[\w-]+){0,4}|[\w-]{2,}(?:\.[\w-]+){1,4})/,
    'hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig',
  ),
  { ...token('Vault, legacy', 's. b. r.', /[A-Za-z0-9]{24}/, mixed(24)), random: true },
  // Stripe, OpenRouter, Langfuse, DeepSeek and many others.
  { ...token('key of many issuers', 'sk- rk- pk- sk_ rk_ pk_', /[\w-]{16,}/, `live_${mixed(24)}`), random: true },
  {
    ...token('token of many issuers', 'key- key_ pat- pat_ secret- token_', /[A-Za-z0-9]{20,}/, mixed(32)),
    random: true,
  },
];

/** Recognises `user:password` in base64. */
function isBasicCredential(secret: string): boolean {
  return /^[\x20-\x7e\u00a0-\uffff]*:[\x20-\x7e\u00a0-\uffff]*$/.test(Buffer.from(secret, 'base64').toString('utf8'));
}

/** Refuses words such as `authentication`. */
function isNoWord(secret: string): boolean {
  return secret.length > 20 || !/^(?:[a-z]+|[A-Z]+|[A-Z][a-z]+)$/.test(secret);
}

/** Refuses user and group of a process, as in `docker run -u 1000:1000`. */
const isNoNumber = (secret: string): boolean => !/^\d{1,6}$/.test(secret);

const isNoReference = (secret: string): boolean => !/^(?:[<*$%{]|x+$|\[REDACTED)/i.test(secret);

const PHRASES: readonly PhraseShape[] = [
  {
    issuer: 'URL password',
    // Greedy up to the last "@" before a slash: passwords hold "@" too.
    pattern: /:\/\/[^\s:/@"'<>]*:(?<secret>[^\s/"']+)@/g,
    hint: /:\/\//,
    accepts: isNoReference,
    example: `postgres://admin:«${mixed(12)}»@db.internal:5432/app`,
  },
  {
    issuer: 'URL user token',
    pattern: /:\/\/(?<secret>[\w%~+.=-]{20,})@/g,
    hint: /:\/\//,
    accepts: isRandom,
    example: `https://«${hex(32)}»@o1.ingest.example.io/2`,
  },
  {
    issuer: 'basic authentication',
    pattern: /\bBasic[ \t]{1,8}(?<secret>[A-Za-z0-9+/_-]{4,}={0,2})/gi,
    words: ['basic'],
    accepts: isBasicCredential,
    example: `Basic «${Buffer.from(`admin:${mixed(9)}`).toString('base64')}»`,
  },
  {
    issuer: 'bearer token',
    pattern: /\bBearer[ \t]{1,8}(?<secret>[A-Za-z0-9._~+/=-]{10,})/gi,
    words: ['bearer'],
    accepts: isNoWord,
    example: `Bearer «${mixed(24)}»`,
  },
  {
    issuer: 'curl user',
    pattern:
      /\bcurl\s[^\n]{0,300}?(?<=\s)(?:-u|--user|--proxy-user)(?:[ \t]{1,4}|=|(?=["']))["']?[^\s:"']{1,64}:(?<secret>[^\s"']{3,})/g,
    hint: /curl/,
    words: ['curl'],
    accepts: (secret) => isNoNumber(secret) && isNoReference(secret),
    example: `curl -sS -u admin:«${mixed(12)}» https://example.com`,
  },
  {
    issuer: 'password of a command',
    pattern:
      /(?:\bsshpass[ \t]{1,4}-p[ \t]{0,4}|\bmysql\w{0,8}[ \t][^\n]{0,200}?(?<=[ \t])-p|\bdocker[ \t]{1,4}login[ \t][^\n]{0,200}?(?<=[ \t])-p[ \t]{1,4}|\bredis-cli[ \t][^\n]{0,200}?(?<=[ \t])-a[ \t]{1,4})["']?(?<secret>[^\s"'-][^\s"']{2,})/g,
    words: ['sshpass', 'mysql', 'login', 'redis-cli'],
    accepts: (secret) => isNoNumber(secret) && isNoReference(secret),
    example: `sshpass -p «${mixed(12)}» ssh me@example.com`,
  },
  {
    issuer: 'Go data source',
    pattern: /(?<![\w/:.-])[\w.-]{1,64}:(?<secret>[^\s:@/"']{3,64})@(?:tcp|unix)\(/g,
    hint: /@/,
    accepts: isNoReference,
    example: `me:«${mixed(12)}»@tcp(localhost:3306)/db`,
  },
  {
    issuer: 'netrc',
    pattern: /\blogin\s{1,4}\S{1,100}\s{1,4}password[ \t]{1,4}(?<secret>\S{3,})/g,
    hint: /login/,
    words: ['login'],
    accepts: isNoReference,
    example: `machine example.com login me password «${mixed(12)}»`,
  },
  {
    issuer: 'SQL password',
    pattern: /\b(?:IDENTIFIED(?:\s{1,4}WITH\s{1,4}\w{1,40})?\s{1,4}BY|PASSWORD)\s{1,4}'(?<secret>[^'\n]{3,})'/gi,
    words: ['identified', 'password'],
    accepts: isNoReference,
    example: `ALTER USER me WITH PASSWORD '«${mixed(12)}»'`,
  },
  {
    issuer: 'Slack webhook',
    pattern: /hooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Za-z0-9_/-]{10,}/g,
    hint: /hooks\.slack\.com/,
    words: ['hooks.slack'],
    example: `«hooks.slack.com/services/T${mixed(8)}/B${mixed(8)}/${mixed(24)}»`,
  },
  {
    issuer: 'Discord webhook',
    pattern: /discord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks\/\d{5,20}\/(?<secret>[\w-]{20,})/g,
    hint: /webhooks\//,
    words: ['webhooks'],
    example: `https://discord.com/api/webhooks/123456789012345678/«${mixed(68)}»`,
  },
  {
    issuer: 'Teams webhook',
    pattern: /webhook\.office\.com\/webhookb2\/(?<secret>[\w@/-]{40,})/g,
    hint: /webhook\.office\.com/,
    words: ['webhook.office'],
    example: `https://x.webhook.office.com/webhookb2/«${hex(36)}@${hex(36)}/IncomingWebhook/${hex(32)}»`,
  },
  {
    issuer: 'Discord bot',
    pattern: /(?<![\w.-])[MNO][\w-]{22,27}\.[\w-]{6,7}\.[\w-]{27,45}(?![\w-])/g,
    hint: /\.[\w-]{6,7}\.[\w-]{27}/,
    example: `«M${mixed(23)}.G${mixed(5)}.${mixed(38)}»`,
  },
  {
    issuer: 'Telegram bot',
    pattern: /(?<![\w.:-])(?:bot)?(?<secret>\d{6,16}:A[\w-]{32,36})(?![\w-])/g,
    hint: /:A/,
    example: `https://api.telegram.org/bot«7405912386:A${mixed(34)}»/getMe`,
  },
  {
    issuer: 'Mailgun signing',
    pattern: /(?<![\w-])[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])/g,
    hint: /-[0-9a-f]{8}-[0-9a-f]{8}/,
    example: `«${hex(32)}-${hex(8)}-${hex(8)}»`,
  },
  {
    issuer: 'Mailchimp',
    pattern: /(?<![\w-])[0-9a-f]{32}-us\d{1,2}(?![\w-])/g,
    hint: /-us/,
    example: `«${hex(32)}-us12»`,
  },
  {
    issuer: 'Azure application',
    pattern: /(?<![\w.~-])[A-Za-z0-9_~.]{3}\dQ~[\w~.-]{31,34}(?![\w~-])/g,
    hint: /Q~/,
    example: `«${mixed(3)}8Q~${mixed(34)}»`,
  },
  {
    issuer: 'Azure key',
    pattern:
      /(?<![A-Za-z0-9+/])(?=[A-Za-z0-9+/]{43})(?:[A-Za-z0-9+/]{76}(?:APIM|ACDb|\+(?:ABa|AMC|ASt))[A-Za-z0-9+/]{6}==|[A-Za-z0-9+/]{33}(?:AIoT|\+(?:ASb|AEh|ARm))[A-Za-z0-9+/]{6}=|[A-Za-z0-9]{52}JQQJ9[9DH][A-Za-z0-9]{20,}={0,2}|[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4})(?![A-Za-z0-9+/=])/g,
    hint: /APIM|ACDb|\+A(?:Ba|MC|St|Sb|Eh|Rm)|AIoT|JQQJ9|AZDO/,
    example: `«${mixed(76)}+ASt${mixed(6)}==»`,
  },
  {
    issuer: 'Terraform',
    pattern: /(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{40,}/g,
    hint: /\.atlasv1\./,
    words: ['atlasv1'],
    example: `«${mixed(14)}.atlasv1.${mixed(67)}»`,
  },
  {
    issuer: 'PuTTY private key',
    pattern: /\bPrivate-Lines: \d{1,4}\s{1,4}(?<secret>[A-Za-z0-9+/=\r\n]{16,})/g,
    hint: /Private-Lines/,
    words: ['private-lines'],
    example: `Private-Lines: 1\n«${mixed(60)}»`,
  },
];

export const SECRET_SHAPES: readonly SecretShape[] = [...TOKENS, ...PHRASES];

/**
 * Returns whether a piece looks random: a digit and more length than a year or a version, or more letters in a row than
 * words have.
 */
export function isRandom(text: string): boolean {
  return text.split(/[^A-Za-z0-9]+/).some((piece) => (piece.length >= 8 && /\d/.test(piece)) || piece.length >= 20);
}
