import { isRecord } from '../../lib/isRecord.ts';

/** Credential that cannot be used: that of an owner, or one that is missing, expired or damaged. */
export class CredentialError extends Error {
  override readonly name = 'CredentialError';
  readonly kind: 'owner' | 'unusable';

  constructor(kind: 'owner' | 'unusable', message: string) {
    super(message);
    this.kind = kind;
  }
}

const REMEDY = 'it reads everything and is refused here; use the client token of a grant';

/** Variables of the environment that carry the access of an owner or of a control plane. */
const OWNER_VARIABLE =
  /^(?:PDPP|WAYGATE_RECORDS)_(?:OWNER|CONTROL|CONTROL_PLANE|ADMIN)_(?:TOKEN|BEARER|SESSION_COOKIE|COOKIE|SESSION|PASSWORD|SECRET)$/i;

/** Throws if the environment carries an owner credential (R6.2), whether or not anything would use it. */
export function refuseOwnerEnvironment(env: NodeJS.ProcessEnv): void {
  const name = Object.keys(env).find((key) => OWNER_VARIABLE.test(key) && env[key]?.trim());
  if (name === undefined) return;
  throw new CredentialError('owner', `the environment has the owner credential ${name}; unset it, because ${REMEDY}.`);
}

const KINDS = ['pdpp_token_kind', 'token_kind', 'kind', 'role'];
const OWNER_KIND = /^(?:owner|control[-_ ]?plane|admin)$/i;

/** Throws if a stored credential says that it is an owner's. */
export function refuseOwnerKind(credential: unknown, place: string): void {
  if (!isRecord(credential)) return;
  const isOwner = KINDS.some((key) => typeof credential[key] === 'string' && OWNER_KIND.test(credential[key].trim()));
  if (isOwner) throw new CredentialError('owner', `${place} has an owner credential; ${REMEDY}.`);
}

/** Returns the kind of token that a schema document names. */
export function tokenKindOf(document: unknown): string | undefined {
  const inner = isRecord(document) && !isRecord(document.bearer) && isRecord(document.data) ? document.data : document;
  const bearer = isRecord(inner) ? inner.bearer : undefined;
  return isRecord(bearer) && typeof bearer.token_kind === 'string' ? bearer.token_kind : undefined;
}

export const OWNER_ANSWER = `The record provider says that this token is not that of a client; ${REMEDY}.`;
