import { INVALID_PARAMS, RESOURCE_NOT_FOUND } from '../../../errors/rpcCodes.ts';
import { isRecord } from '../../../lib/isRecord.ts';
import { MISSING_CLIENT_CAPABILITY, SERVER_INFO_META } from '../../modern/wire.ts';
import type { Params, RpcError } from './eras.ts';

/** Revision in the answer to `initialize`: the newest one that has it. */
const ANSWERED_VERSION = '2025-11-25';
/** Members of results that the older revisions lack. */
const NEW_MEMBERS = ['resultType', 'ttlMs', 'cacheScope'];

/** Ways to give a server a capability that it was not offered. */
const REMEDIES: Readonly<Record<string, string>> = {
  sampling: 'set "sampling": true in its entry',
  roots: 'name its folders in "roots" of its entry',
};

/** Returns the answer to `initialize` that says the same as a result of `server/discover`. */
export function introduction({ capabilities, instructions, _meta }: Params): Record<string, unknown> {
  const { tasks: _tasks, ...known } = isRecord(capabilities) ? capabilities : {};
  const info = isRecord(_meta) ? _meta[SERVER_INFO_META] : undefined;
  const hasInfo = isRecord(info) && typeof info.name === 'string' && typeof info.version === 'string';
  return {
    protocolVersion: ANSWERED_VERSION,
    capabilities: known,
    serverInfo: hasInfo ? info : { name: '', version: '' },
    ...(typeof instructions === 'string' ? { instructions } : {}),
  };
}

/** Returns the declared capabilities as a call offers them: without the questions that its client cannot be asked. */
export function sharedCapabilities(declared: unknown, client: Params | undefined): unknown {
  if (!isRecord(declared) || !client) return declared;
  const { elicitation, sampling, roots: _roots, ...rest } = declared;
  return {
    ...rest,
    ...(elicitation && client.elicitation ? { elicitation: client.elicitation } : {}),
    ...(sampling && client.sampling ? { sampling: client.sampling } : {}),
    ...(client.roots ? { roots: client.roots } : {}),
  };
}

/** Removes the members that only the newer revision has, so that clients get what they know. */
export function asOlderResult(result: Params): Record<string, unknown> {
  const older: Record<string, unknown> = { ...result };
  for (const name of NEW_MEMBERS) delete older[name];
  if (isRecord(older._meta)) {
    const { [SERVER_INFO_META]: _info, ...rest } = older._meta;
    if (Object.keys(rest).length > 0) older._meta = rest;
    else delete older._meta;
  }
  return older;
}

/** Returns an error with the code and the words of the older revisions. `declared`: capabilities of the gateway. */
export function asOlderError(error: RpcError, method: string, declared: Params): RpcError {
  const { code, data } = error;
  const isRead = method === 'resources/read' && isRecord(data) && typeof data.uri === 'string';
  if (code === INVALID_PARAMS && isRead) return { ...error, code: RESOURCE_NOT_FOUND };
  if (code !== MISSING_CLIENT_CAPABILITY) return error;
  const required = isRecord(data) && isRecord(data.requiredCapabilities) ? Object.keys(data.requiredCapabilities) : [];
  const names = required.join(' and ') || 'a capability';
  const switchedOff = required.find((name) => REMEDIES[name] && !declared[name]);
  const remedy = switchedOff ? REMEDIES[switchedOff] : `call it from a client that supports ${names}`;
  return { code, message: `The server requires ${names} of its client, which it was not offered; ${remedy}.`, data };
}
