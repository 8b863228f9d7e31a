import { isRecord } from '../../lib/isRecord.ts';
import { ProviderError } from '../provider/providerError.ts';
import type { RecordAnswer, RecordProvider } from '../provider/recordProvider.ts';
import { RemoteProvider } from '../remote/remoteProvider.ts';
import { schemaDocument } from '../surface/schema/schemaRows.ts';
import { CheckedProvider } from './checkedProvider.ts';
import type { ClientCredential } from './credentialCache.ts';
import { GrantPackage } from './grantPackage.ts';
import { type GrantMember, learn } from './membership.ts';

/** Grants at one provider, before anything has been read. */
export interface OpenGrants {
  provider: RecordProvider;
  /**
   * Checks every token, and learns which sources it reads. Resolves to the outcome of each grant; throws if one token
   * is refused, because a session must not begin with an owner's.
   */
  check(): Promise<GrantCheck[]>;
}

export interface GrantCheck {
  grantId: string | undefined;
  answer?: RecordAnswer;
  /** Sentence that may be shown. */
  failure?: string;
}

/** Opens the grants behind client tokens. Each token stays with its own grant. */
export function openGrants(url: string, credentials: readonly ClientCredential[]): OpenGrants {
  const opened = credentials.map(({ token, grantId }) => {
    const provider = new CheckedProvider(new RemoteProvider({ url, token }));
    const member: GrantMember = {
      provider,
      grantId,
      connectorKey: undefined,
      displayName: undefined,
      connections: [],
      streams: undefined,
    };
    return { provider, member };
  });
  const [first] = opened;
  const members = opened.map(({ member }) => member);
  const provider = first !== undefined && opened.length === 1 ? first.provider : new GrantPackage(members, url);
  const check = (): Promise<GrantCheck[]> => Promise.all(opened.map((one) => checkGrant(one.provider, one.member)));
  return { provider, check };
}

async function checkGrant(provider: CheckedProvider, member: GrantMember): Promise<GrantCheck> {
  try {
    const answer = await provider.check();
    if (answer.status === 200 && isRecord(answer.body)) {
      learn(member, schemaDocument(answer.body));
      return { grantId: member.grantId, answer };
    }
    return {
      grantId: member.grantId,
      answer,
      failure: `The record provider answered with the status ${answer.status}.`,
    };
  } catch (error) {
    if (error instanceof ProviderError && error.code !== 'owner_credential_refused') {
      return { grantId: member.grantId, failure: error.message };
    }
    throw error;
  }
}
