const EXTENSION =
  'It is about an extension for clients without a person at them (client credentials, enterprise grants, DPoP, workload identity).';
const SKILLS = 'It is about an extension (SEP-2640) that our connections do not take part in.';

/** Client scenarios that do not apply to our connections to servers, each with the reason. */
export const NOT_FOR_UPSTREAMS: Readonly<Record<string, string>> = {
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
