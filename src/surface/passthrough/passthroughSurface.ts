import type { CatalogTool } from '../../catalog/types.ts';
import { elicitApproval } from '../../dispatch/elicitApproval.ts';
import { visibleText } from '../../firewall/visibleText.ts';
import { GatewayError } from '../../ops/gatewayError.ts';
import { oneLine } from '../../ops/porcelain.ts';
import { RpcError } from '../../ops/rpcError.ts';
import type { SessionSurface, SurfaceCall } from '../../protocol/sessionServer.ts';
import type { ServerConnection } from '../../upstream/serverConnection.ts';
import { checkArguments } from '../gateway/arguments.ts';
import { type CallEvent, failedEvent } from '../gateway/callEvents.ts';
import { GATEWAY_TOOLS, type ToolDefinition } from '../gateway/definitions.ts';
import { answerCall, takeQuota } from '../gateway/gatewaySurface.ts';
import { SERVER_INFO } from '../gateway/introduction.ts';
import { normaliseCall } from '../gateway/normaliseCall.ts';
import { serverNotes } from '../gateway/serverNotes.ts';
import { SessionStates } from '../gateway/sessionState.ts';
import { tellContract } from '../gateway/tellContract.ts';
import { unknownTool } from '../gateway/unknownTool.ts';
import { view } from '../gateway/view.ts';
import { ALL_CAPABILITIES, capabilitiesOf, instructionsOf } from './capabilities.ts';
import { forwardedEvent } from './forwardedEvent.ts';
import { Forwarding } from './forwarding.ts';
import type { PassthroughContext } from './passthroughContext.ts';
import { faultResult, ownErrorOf, requiredElicitations } from './serverError.ts';
import { ToolRoutes } from './toolRoutes.ts';

const INVALID_PARAMS = -32602;
const VIEW = GATEWAY_TOOLS.find(({ name }) => name === 'tool_view') as ToolDefinition;

/** The servers as they are, with everything in the way of a call that there is in gateway mode. */
export interface PassthroughSurface extends SessionSurface {
  /** Hears what a server tells by itself. To be called before its first start. */
  attach(connection: ServerConnection): void;
  /** Something of the tools has changed. */
  onCatalogChanged(): void;
}

export function passthroughSurface(context: PassthroughContext): PassthroughSurface {
  const forwarding = new Forwarding(context);
  const sessions = new SessionStates();
  const routes = (): ToolRoutes => new ToolRoutes(context.view(), context.connections(), context.hasSeveralServers());

  return {
    serverInfo: SERVER_INFO,
    capabilities: ALL_CAPABILITIES,
    instructions: '',
    introduce: async () => {
      await context.settled();
      const connections = context.connections();
      const several = context.hasSeveralServers();
      const own = instructionsOf(connections, several, (server) => context.view().namespaceOf(server));
      // A list that lacks a server's tools says nothing of why.
      const missing = connections.every(({ isKnown }) => isKnown) ? [] : notesOf(context);
      const instructions = [...(own === undefined ? [] : [own]), ...missing].join('\n\n') || undefined;
      const capabilities = capabilitiesOf(connections, several);
      const tools = context.digest() ? { tools: { listChanged: true } } : {};
      return { capabilities: { ...capabilities, ...tools }, instructions };
    },
    listTools: async () => {
      await context.settled();
      const { list } = routes();
      if (!context.digest()) return list;
      // Nobody can promise structure where a long result is shown as a digest.
      const shown = list.map(({ outputSchema: _schema, ...tool }) => tool);
      return shown.some(({ name }) => name === VIEW.name) ? shown : [...shown, VIEW];
    },
    callTool: async (name, args, call) => {
      const tool = await toolNamed(name, routes, context);
      if (tool) return callThrough(tool, args, call, context, sessions.of(call.session).id);
      if (name !== VIEW.name || !context.digest()) {
        const notes = context.connections().every(({ isKnown }) => isKnown) ? [] : notesOf(context);
        throw new RpcError(INVALID_PARAMS, oneLine([`Unknown tool: ${name}`, ...notes].join('. ')));
      }
      return answerCall(normaliseCall(name, args), call, context, sessions, async (_name, given, session) => {
        const checked = checkArguments(VIEW, given);
        takeQuota('tool_view', checked, context, call.session);
        return view(checked, context, session, call);
      });
    },
    request: (method, params, call) => forwarding.request(method, params, call),
    notification: (method, params) => forwarding.notification(method, params),
    open: (peer) => forwarding.open(peer),
    attach: (connection) => forwarding.attach(connection),
    onCatalogChanged: () => forwarding.announce('notifications/tools/list_changed'),
  };
}

/** Which servers are not there, and why. */
function notesOf(context: PassthroughContext): string[] {
  return serverNotes(context.servers(), context.configuration(), context.workspace);
}

/** A client may call what it knows from before, while the server is only starting. */
async function toolNamed(
  name: string,
  routes: () => ToolRoutes,
  context: PassthroughContext,
): Promise<CatalogTool | undefined> {
  const known = routes().find(name);
  if (known) return known;
  await context.settled();
  return routes().find(name);
}

async function callThrough(
  tool: CatalogTool,
  args: unknown,
  call: SurfaceCall,
  context: PassthroughContext,
  sessionId: string,
): Promise<object> {
  const at = Date.now();
  const started = performance.now();
  context.onCallStart();
  tellContract(tool, context, call);
  let event: CallEvent | undefined;
  try {
    await context.admit?.();
    const result = await forwarded(tool, args, call, context);
    event = forwardedEvent(tool, result.isError === true);
    return await shown(result, tool, context);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    event = failedEvent('tool_execute', { tool_id: tool.id, args }, error, () => tool);
    const own = ownErrorOf(error);
    if (!own) return faultResult(error);
    context.clientRequests.expectElicitations(requiredElicitations(own), call.peer);
    throw own;
  } finally {
    const told = event ?? forwardedEvent(tool, true);
    const ended = {
      at,
      client: call.client,
      metaTool: 'tools/call',
      subject: tool.id,
      durationMs: performance.now() - started,
      outcome: told.success ? ('ok' as const) : ('error' as const),
      ...(told.error === undefined ? {} : { errorCode: told.error.code }),
    };
    context.onCallEnd(ended, { ...told, sessionId });
  }
}

function forwarded(
  tool: CatalogTool,
  args: unknown,
  call: SurfaceCall,
  context: PassthroughContext,
): Promise<Record<string, unknown>> {
  const { catalog } = context.view();
  return context.clientRequests.during(call, (origin) =>
    context.calls.forward({
      toolId: tool.id,
      args,
      session: call.session,
      signal: call.signal,
      onProgress: call.progress,
      approval: elicitApproval(call.ask, visibleText),
      tools: catalog.byId,
      unknownTool: (toolId) => unknownTool(toolId, catalog),
      meta: call.meta,
      origin,
    }),
  );
}

/** Forwarded as it is; where results are firewalled, a long one as its digest and a handle. */
async function shown(result: Record<string, unknown>, tool: CatalogTool, context: PassthroughContext): Promise<object> {
  const digest = context.digest();
  if (!digest || isShort(result, context.shownChars())) return result;
  const { text, parts, isError } = await digest(result, tool);
  const { _meta } = result;
  return {
    content: [{ type: 'text', text: `${text}\n` }, ...parts],
    ...(isError ? { isError } : {}),
    ...(_meta === undefined ? {} : { _meta }),
  };
}

function isShort({ content, structuredContent }: Record<string, unknown>, chars: number): boolean {
  try {
    const structured = structuredContent === undefined ? 0 : JSON.stringify(structuredContent).length;
    return JSON.stringify(content ?? []).length + structured <= chars;
  } catch {
    // Too deep to be written is too long to be shown.
    return false;
  }
}
