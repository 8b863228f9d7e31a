import type { Catalog } from '../../catalog/catalog.ts';
import { fitNamespace } from '../../catalog/namespace.ts';
import type { CatalogTool } from '../../catalog/types.ts';
import type { HeldTool, ServerBrief } from '../../control/contract.ts';
import { serverState } from '../../control/serverStates.ts';
import { GatewayError, type GatewayErrorCode } from '../../errors/gatewayError.ts';
import type { CallContext } from '../../mcp/session/sessionMode.ts';
import { meantBy } from '../../text/nearest.ts';
import { oneLine, quoted } from '../../text/porcelain.ts';
import type { GatewayContext } from './modeContext.ts';
import { whyNotReady } from './serverNotes.ts';

/** Directory that `unknownTool` searches for the intended tool. */
export type ServerDirectory = Pick<GatewayContext, 'servers' | 'workspace'>;

/** Limit of an id (G1.2). A longer text is compared with none. */
const MAX_ID_CHARS = 240;
/** Limit of the given id in the message: the caller knows what it sent, and needs the room for the correct id. */
const MAX_SHOWN_ID_CHARS = 60;
/** Limit of suggestions. A name that more servers share is no useful hint. */
const MAX_MEANT = 3;
/** Limit of an error line (G4.5). Half an id would be useless there. */
const MAX_MESSAGE_CHARS = 256;

/**
 * Makes the error for a `tool_id` that the catalog does not hold: with the most likely id, which is never assumed, or
 * with the reason why its server has no tools.
 */
export function unknownTool(
  toolId: string,
  catalog: Catalog,
  directory: ServerDirectory,
  code: GatewayErrorCode = 'HYDRATE_FAILED',
  path = toolId,
): GatewayError {
  const given = `There is no tool ${quoted(toolId, MAX_SHOWN_ID_CHARS)}`;
  const server = serverOf(toolId, directory.servers());
  // A change of its arguments changes the hash of an id.
  const stem = (id: string): string => id.replace(/[@#].*$/s, '');
  const held = server?.held?.find((tool) => tool.toolId !== '' && stem(tool.toolId) === stem(toolId));
  if (held) return heldError(held, server?.name ?? '', path);
  const kept = server && serverState(server.state).absent;
  const [own, others] = meantTools(toolId, catalog);
  if (server && kept && own.length === 0) {
    const { name, state, command } = server;
    const reason = whyNotReady(server, directory.workspace);
    return new GatewayError(code, `${given}: ${oneLine(name, MAX_SHOWN_ID_CHARS)} ${kept.says}. ${kept.advice}`, {
      path,
      retryable: kept.retryable === true,
      details: { server: name, state, ...(reason === undefined ? {} : { reason }), ...(command && { command }) },
    });
  }
  const meant = (own.length > 0 ? own : others).slice(0, MAX_MEANT).map(({ id }) => id);
  return new GatewayError(code, withMeant(given, meant), { path, ...detailsOf(meant) });
}

/** Error for something that its server lists, but that the user has not approved as it is now (T2). */
export function heldError(
  { toolId, why }: Pick<HeldTool, 'toolId' | 'why'>,
  server: string,
  path: string,
): GatewayError {
  const advice = why === 'gone' ? 'Browse again.' : 'Do without it, or ask the user to review it (waygate trust).';
  const message = `${toolId} may not be used: ${HELD_BECAUSE[why] ?? why}. ${advice}`;
  return new GatewayError('POLICY_DENIED', message, { path, details: { trust: why, server } });
}

const HELD_BECAUSE: Readonly<Record<string, string>> = {
  new: 'it is new since the user approved its server',
  changed: 'its definition changed since the user approved it',
  blocked: 'the user blocked it',
  flagged: 'its text looks like an attack',
  quarantined: 'its server is in quarantine',
  damaged: 'the record of approved tools is damaged',
  unsaved: 'what its server lists could not be recorded',
  twin: "its server lists another one of this name, which waits for the user's review",
  gone: 'its server no longer lists it',
};

/** Separates a server from its tool in ids, and in the names of lists and of other clients. */
const SEPARATOR = /[:./]|__/;

/**
 * Waits for the server that an id names, if the id is unknown because the server is starting for the first time, or
 * because the user must sign in first.
 */
export async function awaitServerOf(id: string, context: GatewayContext, call: CallContext): Promise<void> {
  if (!SEPARATOR.test(id) || context.view().catalog.byId.has(id)) return;
  const server = serverOf(id, context.servers());
  if (server?.unlisted) await context.firstLists.ofServer(server.name, call.signal);
  await signInOf(id, context, call);
}

/** Offers the sign-in at the server that an id names, if nothing of it is known for want of a sign-in. */
export async function signInOf(id: string, context: GatewayContext, call: CallContext): Promise<boolean> {
  const server = serverOf(id, context.servers());
  if (server?.state !== 'needs_sign_in' || server.toolCount > 0) return false;
  return context.signIn(server.name, call);
}

/** Returns the configured server that an id names, also by its own name or with another separator. */
function serverOf(toolId: string, servers: readonly ServerBrief[]): ServerBrief | undefined {
  const colon = toolId.indexOf(':');
  const end = colon >= 0 ? colon : toolId.search(SEPARATOR);
  if (end <= 0 || end > MAX_ID_CHARS) return undefined;
  const named = fitNamespace(toolId.slice(0, end).trim());
  return servers.find(({ name, namespace }) => (namespace || fitNamespace(name)) === named);
}

/**
 * Returns the most likely tools: those of the namespace in the id, or else of all servers. Version and hash do not
 * count: they are forgotten or outdated, never mistyped, and would make every id too different.
 */
function meantTools(toolId: string, { tools }: Catalog): [own: readonly CatalogTool[], others: readonly CatalogTool[]] {
  if (toolId.length > MAX_ID_CHARS) return [[], []];
  const stem = toolId.trim().replace(/[@#].*$/s, '');
  const colon = stem.indexOf(':');
  const namespace = stem.slice(0, Math.max(0, colon)).toLowerCase();
  const name = stem.slice(colon + 1);
  const siblings = tools.filter((tool) => tool.namespace === namespace);
  const own = nearestBy(({ name }) => name, name, siblings);
  if (own.length > 0) return [own, []];
  const spelled = siblings.length > 0 ? [] : nearestBy(({ namespace, name }) => `${namespace}:${name}`, stem, tools);
  return [[], spelled.length > 0 ? spelled : nearestBy(({ name }) => name, name, tools)];
}

function nearestBy(
  keyOf: (tool: CatalogTool) => string,
  written: string,
  tools: readonly CatalogTool[],
): readonly CatalogTool[] {
  if (written === '') return [];
  const meant = meantBy(written, [...new Set(tools.map(keyOf))]);
  return meant === undefined ? [] : tools.filter((tool) => keyOf(tool) === meant);
}

function withMeant(given: string, ids: readonly string[]): string {
  if (ids.length === 0) return `${given}. Find its id with tool_browse.`;
  const message = `${given}. Did you mean ${ids.map((id) => `"${id}"`).join(' or ')}?`;
  return message.length <= MAX_MESSAGE_CHARS ? message : `${given}. Did you mean what follows?`;
}

function detailsOf(ids: readonly string[]): { details?: Record<string, unknown> } {
  if (ids.length === 0) return {};
  return { details: ids.length === 1 ? { nearest: ids[0] } : { candidates: ids } };
}
