import { type Reader, requestInTime } from '../../calls/pipeline/readRequest.ts';
import type { AuthorizedCall } from '../../calls/policy/authorize.ts';
import { elicitApproval } from '../../calls/policy/elicitApproval.ts';
import type { CatalogTool } from '../../catalog/types.ts';
import type { CallContext } from '../../mcp/session/sessionMode.ts';
import type { AdmittedResult } from '../../results/firewall.ts';
import { visibleText } from '../../text/visibleText.ts';
import type { ClientRequests } from '../shared/client/clientRequests.ts';
import type { PrimitiveView } from './primitiveView.ts';

type Json = Record<string, unknown>;

/** A server as resources and prompts are asked of it; `ServerConnection` is one. */
export interface PrimitiveUpstream extends Reader {
  readonly state: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Keeps it running until what is returned is called. */
  hold(): () => void;
}

/** Resources of the gateway itself, which no server has. */
export interface OwnResources {
  list(): readonly object[];
  /** The contents; undefined where the address is none of these. */
  read(uri: string): readonly object[] | undefined;
}

/** What resources and prompts need of the rooms around them: the worker provides it. */
export interface PrimitivePorts {
  view(): PrimitiveView;
  upstream(server: string): PrimitiveUpstream | undefined;
  firewall(result: Json, of: { id: string; name: string }): Promise<AdmittedResult>;
  /** Resolves when the user's rules allow reading a resource or prompt, which counts as a `tool_view` (G7.8). */
  authorize(call: Omit<AuthorizedCall, 'metaTool' | 'args'>): Promise<void>;
  /** The server whose result named an address last. */
  linkedServer(uri: string): string | undefined;
  /** Resolves when every server has been listed that may be soon, or when that has taken too long. */
  settled(timeoutMs: number, signal: AbortSignal): Promise<void>;
  scrubSecrets(text: string): string;
  /** Where what servers ask their clients goes. */
  clientRequests: Pick<ClientRequests, 'during'>;
  own?: OwnResources;
}

/** A list is asked for once by some clients, and on every start by others. */
export const LIST_WAIT_MS = 3_000;
/** What somebody asks for by its name is there. */
const FIND_WAIT_MS = 15_000;

/** Finds something in the view; where it is not there a server that has never been listed may have it. */
export async function found<T>(
  ports: PrimitivePorts,
  signal: AbortSignal,
  find: (view: PrimitiveView) => T | undefined,
): Promise<T | undefined> {
  const now = find(ports.view());
  if (now !== undefined) return now;
  await ports.settled(FIND_WAIT_MS, signal);
  return find(ports.view());
}

export function authorized(ports: PrimitivePorts, tool: CatalogTool, call: CallContext): Promise<void> {
  const { session, signal, ask } = call;
  return ports.authorize({ tool, session, signal, approval: elicitApproval(ask, visibleText) });
}

/** Asks a server on behalf of a client's request; the client's `_meta` goes along, but for the token of its progress. */
export function asked(
  { clientRequests }: PrimitivePorts,
  upstream: PrimitiveUpstream,
  method: string,
  params: Json,
  call: CallContext,
): Promise<Json> {
  const { signal, progress: onProgress } = call;
  return clientRequests.during(call, (origin) =>
    requestInTime(upstream, method, withMeta(params, call), { signal, origin, ...(onProgress && { onProgress }) }),
  );
}

/** The token is ours to translate. */
function withMeta(params: Json, { meta }: CallContext): Json {
  if (meta === undefined) return params;
  const { progressToken: _, ...rest } = meta;
  return Object.keys(rest).length > 0 ? { ...params, _meta: rest } : params;
}
