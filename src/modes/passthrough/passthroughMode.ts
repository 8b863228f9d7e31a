import { fitNamespace } from '../../catalog/namespace.ts';
import type { CatalogTool } from '../../catalog/types.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import { INVALID_PARAMS } from '../../errors/rpcCodes.ts';
import { RpcError } from '../../errors/rpcError.ts';
import type { CallContext, SessionMode } from '../../mcp/session/sessionMode.ts';
import { mendedResult } from '../../results/envelope/resultParts.ts';
import { scrubValue } from '../../secrets/scrubValue.ts';
import { oneLine } from '../../text/porcelain.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';
import { answerCall, checkedCall } from '../gateway/answerCall.ts';
import { failedCallEvent } from '../gateway/toolTable.ts';
import { view } from '../gateway/view.ts';
import { announceContract } from '../shared/announceContract.ts';
import { answeredWithError, type CallEvent, completedEvent, ofTool } from '../shared/callEvent.ts';
import { beginCall, type TracedCall } from '../shared/callRecord.ts';
import { clientEndOf } from '../shared/callRequest.ts';
import { ClientNews } from '../shared/client/clientNews.ts';
import { TOOL_EXECUTE, TOOL_VIEW } from '../shared/gatewayTools.ts';
import { SERVER_INFO } from '../shared/introduction.ts';
import { normaliseCall } from '../shared/normaliseCall.ts';
import { serverNotes } from '../shared/serverNotes.ts';
import type { SessionCall } from '../shared/sessionCall.ts';
import { SessionStates } from '../shared/sessionState.ts';
import { ALL_CAPABILITIES, capabilitiesOf, instructionsOf } from './capabilities.ts';
import { Forwarding } from './forwarding.ts';
import type { PassthroughContext } from './passthroughContext.ts';
import { faultResult, ownErrorOf } from './serverError.ts';
import { keptRoutes, prefixed, type ToolRoutes } from './toolRoutes.ts';

/** Name of a forwarded call in the list of recent calls. */
const PASSED_ON = 'tools/call';
const LIST_KINDS = ['tools', 'resources', 'prompts'] as const;
const VIEW = TOOL_VIEW.definition;

/** Passthrough mode: the servers as they are. Calls have the same rules and limits as in gateway mode. */
export interface PassthroughMode extends SessionMode {
  /** Returns the answer to `tools/list`, as far as servers are known. */
  shownTools(): readonly object[];
  /** Subscribes to the notifications of a server. Call it before the server's first start. */
  attach(connection: ServerConnection): void;
  /** Announces a change of the tools. */
  onCatalogChanged(): void;
  /** Announces the lists that the settings change by themselves. */
  onEdit(): void;
  /** Announces a change of the resources or prompts. */
  onListsChanged(kind: 'resources' | 'prompts'): void;
}

export function passthroughMode(context: PassthroughContext): PassthroughMode {
  const sessions = new SessionStates();
  const news = new ClientNews();
  const forwarding = new Forwarding(context, sessions, news);
  const routes = keptRoutes(context);
  const shownTools = (): readonly object[] => {
    const { list } = routes();
    if (!context.digest()) return list;
    // A digest of a long result does not have the structure that an output schema promises.
    const shown = list.map(({ outputSchema: _schema, ...tool }) => tool);
    return shown.some(({ name }) => name === VIEW.name) ? shown : [...shown, VIEW];
  };

  const isDigested = (): boolean => context.digest() !== undefined;
  let [wasDigested, wereSeveral] = [isDigested(), context.hasSeveralServers()];

  return {
    serverInfo: SERVER_INFO,
    capabilities: ALL_CAPABILITIES,
    instructions: '',
    introduce: async () => {
      await context.settled();
      const connections = context.connections();
      const several = context.hasSeveralServers();
      const own = instructionsOf(connections, several, (server) => context.view().namespaceOf(server));
      // A list that lacks a server's tools does not say why.
      const missing = connections.every(({ isKnown }) => isKnown) ? [] : notesOf(context);
      const instructions = [...(own === undefined ? [] : [own]), ...missing].join('\n\n') || undefined;
      const capabilities = capabilitiesOf(connections, several);
      const tools = context.digest() ? { tools: { listChanged: true } } : {};
      return { capabilities: { ...capabilities, ...tools }, instructions };
    },
    listTools: async () => {
      await context.settled();
      return shownTools();
    },
    shownTools,
    callTool: async (name, args, call) => {
      const tool = await toolNamed(name, routes, context, call.signal);
      if (tool) return callThrough(tool, args, call, context, sessions.of(call.session).id);
      if (name !== VIEW.name || !context.digest()) {
        const notes = context.connections().every(({ isKnown }) => isKnown) ? [] : notesOf(context);
        throw new RpcError(INVALID_PARAMS, oneLine([`Unknown tool: ${name}.`, ...notes].join(' ')));
      }
      return answerCall(normaliseCall(name, args), call, context, sessions, async (given) =>
        view.run(checkedCall(view, given)),
      );
    },
    request: (method, params, call) => forwarding.request(method, params, call),
    notification: (method, params) => forwarding.notification(method, params),
    open: (peer) => forwarding.open(peer),
    attach: (connection) => forwarding.attach(connection),
    onListsChanged: (kind) => forwarding.onListsChanged(kind),
    onCatalogChanged: () => news.changed('tools'),
    onEdit: () => {
      if (isDigested() !== wasDigested) news.changed('tools');
      // Items of several servers have other names, also if the lists of the servers are the same.
      if (context.hasSeveralServers() !== wereSeveral) for (const kind of LIST_KINDS) news.changed(kind);
      [wasDigested, wereSeveral] = [isDigested(), context.hasSeveralServers()];
    },
  };
}

/** Returns notes about servers that are not ready. */
function notesOf(context: PassthroughContext): string[] {
  return serverNotes(context.servers(), context.configuration(), context.workspace);
}

/** Finds a tool, and waits for its server if that is starting for the first time: a client may know it from before. */
async function toolNamed(
  name: string,
  routes: () => ToolRoutes,
  context: PassthroughContext,
  signal: AbortSignal,
): Promise<CatalogTool | undefined> {
  const known = routes().find(name);
  if (known) return known;
  const isNamed = ({ config }: ServerConnection): boolean =>
    !context.hasSeveralServers() || name.startsWith(prefixed(fitNamespace(config.name), ''));
  const servers = context.connections().filter(isNamed);
  await Promise.all(servers.map(({ config }) => context.firstLists.ofServer(config.name, signal)));
  return routes().find(name);
}

async function callThrough(
  tool: CatalogTool,
  args: unknown,
  given: CallContext,
  context: PassthroughContext,
  sessionId: string,
): Promise<object> {
  const { call, end } = beginCall(context, given, { metaTool: PASSED_ON, subject: tool.id, sessionId, args });
  let event: CallEvent | undefined;
  let answer: object | undefined;
  let failure: GatewayError | undefined;
  try {
    announceContract(tool, context, call);
    await context.admit();
    const result = await context.clientRequests.during(call, (origin) => forward(tool, args, call, context, origin));
    event = forwardedEvent(tool, result.isError === true);
    answer = await shownResult(result, tool, context);
    return answer;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    failure = error;
    event = failedCallEvent('tool_execute', { tool_id: tool.id, args }, error, () => tool);
    const own = ownErrorOf(error, {
      isMasked: context.masks(true),
      required: (data) => context.clientRequests.requiredElicitations(tool.server, data, call.peer),
    });
    if (own) throw own;
    answer = faultResult(error);
    return answer;
  } finally {
    end(event ?? forwardedEvent(tool, true), { answer, error: failure });
  }
}

/** Makes the event of a forwarded call. Nothing of its answer is recorded. */
function forwardedEvent(tool: CatalogTool, isError: boolean): CallEvent {
  return completedEvent(TOOL_EXECUTE, {
    ...ofTool(tool),
    dispatched: true,
    attributes: () => ({ status: isError ? 'error' : 'ok' }),
    ...(isError ? answeredWithError(tool) : {}),
  });
}

/** Clients that ask the user before a call of a tool, by the name in their `clientInfo`. */
const ASKING_CLIENTS =
  /^(visual studio code( - insiders)?|claude-code|claude-ai|cursor(-vscode)?|zed|cline|roo code|gemini-cli-mcp-client.*)$/i;

function asksItself(client: string, setting: ReturnType<PassthroughContext['asks']>): boolean {
  return setting === 'client' || (setting === 'auto' && ASKING_CLIENTS.test(client));
}

function forward(
  tool: CatalogTool,
  args: unknown,
  call: TracedCall,
  context: PassthroughContext,
  origin: SessionCall,
): Promise<Record<string, unknown>> {
  const { catalog } = context.view();
  const askedByClient = asksItself(call.client, context.asks());
  return context.calls.forward({
    ...clientEndOf(call, catalog, context),
    toolId: tool.id,
    args,
    origin,
    askedByClient,
  });
}

/**
 * Returns the result unchanged, or a digest with a handle if results pass the firewall and this one is long. Parts of a
 * wrong form become text. Secrets are masked as in the other modes: no mode may loosen that.
 */
async function shownResult(
  result: Record<string, unknown>,
  tool: CatalogTool,
  context: Pick<PassthroughContext, 'digest' | 'onOddResult' | 'shownChars' | 'masks'>,
): Promise<Record<string, unknown>> {
  const digest = context.digest();
  if (!digest || isShort(result, context.shownChars())) {
    const mended = mendedResult(result);
    if (mended) context.onOddResult(tool.server);
    const shown = mended ?? result;
    return context.masks(shown.isError === true) ? (scrubValue(shown, tool.server) as Record<string, unknown>) : shown;
  }
  const { text, parts, isError } = await digest(result, tool);
  const { _meta } = result;
  return {
    content: [{ type: 'text', text: `${text}\n` }, ...parts],
    ...(isError ? { isError } : {}),
    ...(_meta === undefined ? {} : { _meta: context.masks(isError) ? scrubValue(_meta) : _meta }),
  };
}

function isShort({ content, structuredContent }: Record<string, unknown>, chars: number): boolean {
  try {
    const structured = structuredContent === undefined ? 0 : JSON.stringify(structuredContent).length;
    return JSON.stringify(content ?? []).length + structured <= chars;
  } catch {
    // A result too deep to serialise is too long to show.
    return false;
  }
}
