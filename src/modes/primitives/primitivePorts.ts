import { type Reader, requestInTime } from '../../calls/pipeline/readRequest.ts';
import type { AuthorizedCall } from '../../calls/policy/authorize.ts';
import { sentParts } from '../../calls/policy/egress.ts';
import { elicitApproval } from '../../calls/policy/elicitApproval.ts';
import type { CatalogTool } from '../../catalog/types.ts';
import type { GatewayError } from '../../errors/gatewayError.ts';
import type { CallContext } from '../../mcp/session/sessionMode.ts';
import type { AdmittedResult } from '../../results/firewall.ts';
import { scrubSecrets } from '../../secrets/mask.ts';
import type { TracedCall } from '../shared/callRecord.ts';
import type { ClientRequests } from '../shared/client/clientRequests.ts';
import type { PrimitiveView } from './primitiveView.ts';
import type { Subscriptions } from './subscriptions.ts';

type Json = Record<string, unknown>;

/** Server as a source of resources and prompts; `ServerConnection` implements it. */
export interface PrimitiveUpstream extends Reader {
  readonly state: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Keeps the server running until the returned function is called. */
  hold(): () => void;
}

/** Resources of the gateway itself. */
export interface OwnResources {
  list(): readonly object[];
  /** Returns the contents; undefined for an unknown address. */
  read(uri: string): readonly object[] | undefined;
}

/** Dependencies of resources and prompts on other rooms. The worker provides them. */
export interface PrimitivePorts {
  view(): PrimitiveView;
  upstream(server: string): PrimitiveUpstream | undefined;
  firewall(result: Json, of: { id: string; name: string; source: CatalogTool }): Promise<AdmittedResult>;
  /**
   * Resolves when the user's rules allow reading a resource or prompt, which counts as a `tool_view` (G7.8), and `sent`
   * may be sent to its server.
   */
  authorize(call: Omit<AuthorizedCall, 'metaTool' | 'args'>, sent: readonly unknown[]): Promise<void>;
  /** Returns the error for what must not be sent to a server, where the user cannot be asked. */
  egressRefusal(server: string, sent: unknown, from?: { session: object }): GatewayError | undefined;
  /** Returns the server whose result named an address last. */
  linkedServers(uri: string): readonly string[];
  /** Resolves when all starting servers are listed, or after the timeout. */
  settled(timeoutMs: number, signal: AbortSignal): Promise<void>;
  scrubSecrets(text: string, from?: string): string;
  /** Routes requests that servers send to their clients. */
  clientRequests: Pick<ClientRequests, 'during'>;
  own?: OwnResources;
  /** Shared by the sessions of all modes, because a server knows only one subscriber, the gateway. */
  subscriptions: Subscriptions;
}

/** Short, since some clients list at every start and others only once. */
export const LIST_WAIT_MS = 3_000;
/** Longer, since a named item probably exists. */
const FIND_WAIT_MS = 15_000;

/** Finds an item in the view. If it is absent, waits for servers that were never listed and tries again. */
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

/** Checks a read. `params` are sent to the server, and the client's `_meta` with them. */
export function authorized(
  ports: PrimitivePorts,
  tool: CatalogTool,
  call: TracedCall,
  params: Readonly<Json>,
): Promise<void> {
  const { session, signal, ask, meta, trace } = call;
  const approval = elicitApproval(ask, scrubSecrets);
  return ports.authorize({ tool, session, signal, approval, trace }, sentParts(params, meta));
}

/** Sends a client's request to a server, with the client's `_meta` but without its progress token. */
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

/** Adds the client's `_meta` without the progress token, which the gateway translates. */
function withMeta(params: Json, { meta }: CallContext): Json {
  if (meta === undefined) return params;
  const { progressToken: _, ...rest } = meta;
  return Object.keys(rest).length > 0 ? { ...params, _meta: rest } : params;
}
