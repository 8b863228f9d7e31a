import { requestInTime } from '../../calls/pipeline/readRequest.ts';
import type { CatalogTool } from '../../catalog/types.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import { INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND } from '../../errors/rpcCodes.ts';
import { RpcError } from '../../errors/rpcError.ts';
import type { CallContext, ClientPeer } from '../../mcp/session/sessionMode.ts';
import { RESUMED_META } from '../../replay/replay.ts';
import { quoted } from '../../text/porcelain.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';
import { pageOf } from '../primitives/pages.ts';
import { authorized } from '../primitives/primitivePorts.ts';
import { textParam } from '../primitives/textParam.ts';
import type { ClientNews } from '../shared/client/clientNews.ts';
import type { SessionStates } from '../shared/sessionState.ts';
import { guardedRead, type Read } from './guardedRead.ts';
import { objects, ResourceOwners } from './owners.ts';
import type { PassthroughContext } from './passthroughContext.ts';
import { requestError } from './serverError.ts';
import { Subscriptions } from './subscriptions.ts';
import { prefixed } from './toolRoutes.ts';

type Params = Readonly<Record<string, unknown>>;

const FORWARDED_TIMEOUT_MS = 120_000;

/** Capability of each list. A server without it gets no request. */
const LISTS: Readonly<Record<string, { capability: string; key: string }>> = {
  'resources/list': { capability: 'resources', key: 'resources' },
  'resources/templates/list': { capability: 'resources', key: 'resourceTemplates' },
  'prompts/list': { capability: 'prompts', key: 'prompts' },
};
const FORWARDED_LISTS = ['resources', 'prompts'] as const;

/** Forwards everything but tools: to the only server unchanged, or to the server that has the resource or prompt. */
export class Forwarding {
  readonly #context: PassthroughContext;
  readonly #states: SessionStates;
  readonly #news: ClientNews;
  readonly #subscriptions = new Subscriptions();

  constructor(context: PassthroughContext, states: SessionStates, news: ClientNews) {
    this.#context = context;
    this.#states = states;
    this.#news = news;
  }

  /** Forwards notifications of a server. */
  attach(connection: ServerConnection): void {
    for (const kind of FORWARDED_LISTS) {
      // With several servers, clients learn of a change when the new list is there.
      connection.onNotification(`notifications/${kind}/list_changed`, () => {
        if (this.#only) this.#news.changed(kind);
      });
    }
    connection.onNotification('notifications/resources/updated', (params) => {
      for (const peer of this.#subscriptions.listeners(connection, String(params.uri))) {
        peer.notify('notifications/resources/updated', params);
      }
    });
    connection.onReady(() => this.#subscriptions.renew(connection));
  }

  /** Notifies clients of a changed list of several servers. */
  onListsChanged(kind: 'resources' | 'prompts'): void {
    if (!this.#only) this.#news.changed(kind);
  }

  /** Registers a session and returns a function that removes it. */
  open(peer: ClientPeer): () => void {
    return () => this.#subscriptions.leave(peer.session);
  }

  request(method: string, params: Params, call: CallContext): Promise<object> | undefined {
    const list = LISTS[method];
    const only = this.#only;
    if (list) return only ? this.#listOf(only, list, method, params, call) : this.#listAll(list.key, params);
    switch (method) {
      case 'resources/read':
        return this.#readResource(params, call);
      case 'resources/subscribe':
        return this.#subscribe(params, call);
      case 'resources/unsubscribe':
        return this.#unsubscribe(params, call);
      case 'prompts/get':
        return this.#getPrompt(params, call);
      case 'completion/complete':
        return this.#complete(params, call);
      default:
        return only && this.#send(only, method, params, call);
    }
  }

  /** Forwards a client's notification if there is only one server. */
  notification(method: string, params: Params): void {
    void this.#only?.notify(method, { ...params }).catch(() => undefined);
  }

  get #only(): ServerConnection | undefined {
    return this.#context.hasSeveralServers() ? undefined : this.#context.connections()[0];
  }

  async #listOf(
    server: ServerConnection,
    { capability, key }: { capability: string; key: string },
    method: string,
    params: Params,
    call: CallContext,
  ): Promise<object> {
    await this.#context.settled();
    return server.capabilities[capability] ? this.#send(server, method, params, call) : { [key]: [] };
  }

  /** Lists the items of all servers as they were last listed: there may be many servers, and idle ones. */
  async #listAll(key: string, { cursor }: Params): Promise<object> {
    await this.#context.settled();
    const { resources, templates } = this.#owners;
    if (key === 'resources') return pageOf(key, resources, cursor);
    if (key === 'resourceTemplates') return pageOf(key, templates, cursor);
    const prompts = this.#context.connections().flatMap((connection) =>
      objects(connection.catalog.prompts).map((prompt) => ({
        ...prompt,
        name: prefixed(this.#namespaceOf(connection), String(prompt.name)),
      })),
    );
    return pageOf(key, prompts, cursor);
  }

  async #readResource(params: Params, call: CallContext): Promise<object> {
    const uri = textParam(params, 'uri');
    const owner = await this.#ownerOf(uri);
    const choice = this.#resourceChoice(owner, uri);
    const isListed = this.#context.primitives.view().resource(choice.id) !== undefined;
    const read: Read = { method: 'resources/read', choice, isListed };
    return this.#guarded(read, call, () => this.#send(owner, 'resources/read', params, call));
  }

  async #getPrompt(params: Params, call: CallContext): Promise<object> {
    const { owner, name } = await this.#promptOf(params);
    const choice = this.#promptChoice(owner, name);
    const isListed = this.#context.primitives.view().prompt(choice.id) !== undefined;
    const read: Read = { method: 'prompts/get', choice, isListed };
    return this.#guarded(read, call, () => this.#send(owner, 'prompts/get', { ...params, name }, call));
  }

  #guarded<T>(read: Read, call: CallContext, send: () => Promise<T>): Promise<T> {
    const sessionId = this.#states.of(call.session).id;
    return guardedRead(read, call, { context: this.#context, sessionId }, send);
  }

  /** Applies the user's rules without counting a read. */
  async #allowed(choice: CatalogTool, call: CallContext): Promise<void> {
    try {
      await authorized(this.#context.primitives, choice, call);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      throw new RpcError(INTERNAL_ERROR, error.message, error.toObject());
    }
  }

  async #subscribe(params: Params, call: CallContext): Promise<object> {
    const uri = textParam(params, 'uri');
    const owner = await this.#ownerOf(uri);
    await this.#allowed(this.#resourceChoice(owner, uri), call);
    const answer = await this.#send(owner, 'resources/subscribe', params, call);
    if (call.peer) this.#subscriptions.add(owner, String(params.uri), call.peer);
    // The client may have missed an update while there was no worker.
    if (call.meta?.[RESUMED_META]) call.peer?.notify('notifications/resources/updated', { uri: params.uri });
    return answer;
  }

  async #unsubscribe(params: Params, call: CallContext): Promise<object> {
    const owner = await this.#ownerOf(textParam(params, 'uri'));
    const wasLast = this.#subscriptions.remove(owner, String(params.uri), call.peer?.session ?? call.session);
    return wasLast ? this.#send(owner, 'resources/unsubscribe', params, call) : {};
  }

  async #complete(params: Params, call: CallContext): Promise<object> {
    const ref = (params.ref ?? {}) as Params;
    if (ref.type === 'ref/prompt') {
      const { owner, name } = await this.#promptOf(ref);
      await this.#allowed(this.#promptChoice(owner, name), call);
      return this.#send(owner, 'completion/complete', { ...params, ref: { ...ref, name } }, call);
    }
    const uri = textParam(ref, 'uri');
    const owner = await this.#ownerOf(uri);
    await this.#allowed(this.#resourceChoice(owner, uri), call);
    return this.#send(owner, 'completion/complete', params, call);
  }

  get #owners(): ResourceOwners {
    return new ResourceOwners(this.#context.connections());
  }

  /** Returns the server of a resource. If it is unknown, waits for servers that were never listed. */
  async #ownerOf(uri: string): Promise<ServerConnection> {
    const known = this.#only ?? this.#owners.of(uri);
    if (known) return known;
    await this.#context.settled();
    const found = this.#owners.of(uri);
    if (found) return found;
    throw new RpcError(RESOURCE_NOT_FOUND, 'Resource not found', { uri });
  }

  #resourceChoice(owner: ServerConnection, uri: string): CatalogTool {
    return this.#context.primitives.view().choiceAt({ server: owner.config.name, uri });
  }

  #promptChoice(owner: ServerConnection, name: string): CatalogTool {
    return this.#context.primitives.view().promptAt({ server: owner.config.name, name });
  }

  async #promptOf(params: Params): Promise<{ owner: ServerConnection; name: string }> {
    const name = textParam(params, 'name');
    const only = this.#only;
    if (only) return { owner: only, name };
    const owners = this.#context
      .connections()
      .map((owner) => ({ owner, prefix: prefixed(this.#namespaceOf(owner), '') }))
      // A namespace may begin with another one and two underscores.
      .sort((a, b) => b.prefix.length - a.prefix.length);
    const found = owners.find(({ prefix }) => name.startsWith(prefix));
    if (found) return { owner: found.owner, name: name.slice(found.prefix.length) };
    throw new RpcError(INVALID_PARAMS, `There is no prompt ${quoted(name, 100)}.`);
  }

  #namespaceOf(connection: ServerConnection): string {
    return this.#context.view().namespaceOf(connection.config.name);
  }

  async #send(server: ServerConnection, method: string, given: Params, call: CallContext): Promise<object> {
    const { _meta, ...params } = given;
    const { signal, progress: onProgress } = call;
    const { [RESUMED_META]: _resumed, ...meta } = call.meta ?? {};
    try {
      return await this.#context.clientRequests.during(call, (origin) =>
        requestInTime(
          server,
          method,
          params,
          { signal, origin, meta, ...(onProgress && { onProgress }) },
          FORWARDED_TIMEOUT_MS,
        ),
      );
    } catch (error) {
      throw requestError(server.config.name, method, error);
    }
  }
}
