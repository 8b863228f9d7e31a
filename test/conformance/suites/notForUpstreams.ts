const STATELESS =
  'It is about the stateless revision 2026-07-28, which our connections do not speak: its server refuses initialize.';
const EXTENSION =
  'It is about an extension for clients without a person at them (client credentials, enterprise grants, DPoP, workload identity).';
const SKILLS = 'It is about an extension (SEP-2640) that our connections do not take part in.';

/** Client scenarios that do not apply to our connections to servers, each with the reason. */
export const NOT_FOR_UPSTREAMS: Readonly<Record<string, string>> = {
  'request-metadata': STATELESS,
  'auth/offline-access-scope': STATELESS,
  'auth/offline-access-not-supported': STATELESS,
  'auth/authorization-server-migration': STATELESS,
  'auth/iss-supported': STATELESS,
  'auth/iss-not-advertised': STATELESS,
  'sep-2322-client-request-state': STATELESS,
  'http-standard-headers': STATELESS,
  'http-custom-headers': STATELESS,
  'http-invalid-tool-headers': STATELESS,
  'auth/client-credentials-jwt': EXTENSION,
  'auth/client-credentials-basic': EXTENSION,
  'auth/cross-app-access-complete-flow': EXTENSION,
  'auth/enterprise-managed-authorization': EXTENSION,
  'auth/dpop': EXTENSION,
  'auth/dpop-nonce': EXTENSION,
  'auth/wif-jwt-bearer': EXTENSION,
  'sep-2640-client-no-prefetch': SKILLS,
  'sep-2640-client-verify-digest': SKILLS,
  'sep-2640-client-verify-size': SKILLS,
  'sep-2640-client-verify-frontmatter': SKILLS,
};
