import type { NameWeight } from '../../src/secrets/names.ts';

/** Examples of each row of `NAME_SHAPES`, in its order. They are here because every bundle would carry them. */
export const NAME_EXAMPLES: readonly { weight: NameWeight; names: readonly string[] }[] = [
  { weight: 'strong', names: ['AWS_ACCESS_KEY_ID', 'accessKeyId', 'VAULT_SECRET_ID'] },
  {
    weight: 'strong',
    names: ['API_KEY', 'apiKey', 'X-Api-Key', 'AccountKey', 'SharedAccessKey', 'secret_key', 'private-key'],
  },
  {
    weight: 'strong',
    names: [
      'token',
      'SECRET',
      'GITHUB_TOKEN',
      'access_token',
      'clientSecret',
      'client_secret',
      'DB_PASSWORD',
      'PGPASSWORD',
      'passwd',
      'passphrase',
      'pwd',
      'DB_PW',
      'ROOTPW',
      'SENTRY_DSN',
      'SLACK_PAT',
      'credentials',
      'apikey',
      'Authorization',
      'X-Auth-Token',
      'X-Amz-Security-Token',
      '_authToken',
      'AWS_SECRET_ACCESS_KEY',
      'jwt',
    ],
  },
  { weight: 'strong', names: ['DBPASS', 'smtppass'] },
  { weight: 'strong', names: ['DB_PASS', 'smtpPass', 'SMTP_PASS'] },
  { weight: 'key', names: ['pass'] },
  { weight: 'key', names: ['OPENAI_KEY', 'stripeKey', 'Ocp-Apim-Subscription-Key'] },
  { weight: 'weak', names: ['auth', 'sig', 'X-Amz-Signature', 'sessionid', 'JSESSION_COOKIE'] },
];
