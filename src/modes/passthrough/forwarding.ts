import { requestInTime } from '../../calls/pipeline/readRequest.ts';
import type { CatalogTool } from '../../catalog/types.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import { INTERNAL_ERROR, INVALID_PARAMS } from '../../errors/rpcCodes.ts';
import { RpcError } from '../../errors/rpcError.ts';
import type { CallContext, ClientPeer } from '../../mcp/session/sessionMode.ts';
import { RESUMED_META } from '../../replay/replay.ts';
import { maskKnownValue, scrubValue } from '../../secrets/scrubValue.ts';
import { quoted } from '../../text/porcelain.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';
import { ClientPrimitives, withPrefix } from '../primitives/clientPrimitives.ts';
import { pageOf } from '../primitives/pages.ts';
import { authorized } from '../primitives/primitivePorts.ts';
import type { ResourceTarget } from '../primitives/resourceDirectory.ts';
import { textParam } from '../primitives/textParam.ts';
import type { ClientNews } from '../shared/client/clientNews.ts';
import type { SessionStates } from '../shared/sessionState.ts';
import { guardedRead, type Read } from './guardedRead.ts';
import type { PassthroughContext } from './passthroughContext.ts';
import { requestError } from './serverError.ts';
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
  readonly #primitives: ClientPrimitives;

  constructor(context: PassthroughContext, states: SessionStates, news: ClientNews) {
    this.#context = context;
    this.#states = states;
    this.#news = news;
    // The gateway has no resources of its own in this mode.
    const { own: _own, ...ports } = context.primitives;
    this.#primitives = new ClientPrimitives(ports, news);
  }

  /** Forwards the announcements of a single server. */
  attach(connection: ServerConnection): void {
    for (const kind of FORWARDED_LISTS) {
      // With several servers, clients learn of a change when the new list is there.
      connection.onNotification(`notifications/${kind}/list_changed`, () => {
        if (this.#only) this.#news.changed(kind);
      });
    }
  }

  /** Notifies clients of a changed list of several servers. */
  onListsChanged(kind: 'resources' | 'prompts'): void {
    if (!this.#only) this.#news.changed(kind);
  }

  /** Registers a session and returns a function that removes it. */
  open(peer: ClientPeer): () => void {
    return this.#primitives.open(peer);
  }

  request(method: string, params: Params, call: CallContext): Promise<object> | undefined {
    const list = LISTS[method];
    const only = this.#only;
    if (list && only) return this.#listOf(only, list, method, params, call);
    switch (method) {
      case 'resources/read':
        return this.#readResource(params, call);
      case 'resources/list':
      case 'resources/templates/list':
        return this.#context.settled().then(() => this.#primitives.request(method, params, call) as Promise<object>);
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        return this.#primitives.request(method, params, call);
      case 'prompts/list':
        return this.#listPrompts(params);
      case 'prompts/get':
        return this.#getPrompt(params, call);
      case 'completion/complete':
        return this.#complete(params, call);
      default:
        return only && this.#sendUnasked(only.config.name, method, params, call);
    }
  }

  /** Forwards a client's notification if there is only one server. */
  notification(method: string, params: Params): void {
    const only = this.#only;
    // A notification has no answer that could say why it was not sent.
    if (!only || this.#context.primitives.egressRefusal(only.config.name, params)) return;
    void only.notify(method, { ...params }).catch(() => undefined);
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
    if (!server.capabilities[capability]) return { [key]: [] };
    const sent = await this.#sendUnasked(server.config.name, method, params, call);
    const answer = maskKnownValue(sent) as Record<string, unknown>;
    const items = answer[key];
    return Array.isArray(items) ? { ...answer, [key]: server.offeredOf(key, items) } : answer;
  }

  /** Lists the prompts of all servers as they were last listed: there may be many servers, and idle ones. */
  async #listPrompts({ cursor }: Params): Promise<object> {
    await this.#context.settled();
    const prompts = this.#context.primitives.view().catalog.prompts.map(({ raw, server, name }) => ({
      ...raw,
      name: prefixed(this.#context.view().namespaceOf(server), name),
    }));
    return pageOf('prompts', prompts, cursor);
  }

  async #readResource(params: Params, call: CallContext): Promise<object> {
    const target = await this.#targetOf(params, call);
    const choice = this.#resourceChoice(target);
    const isListed = this.#context.primitives.view().resource(choice.id) !== undefined;
    const sent = { ...params, uri: target.uri };
    return this.#guarded({ method: 'resources/read', choice, isListed, sent }, call, async (call) =>
      withPrefix(await this.#send(target.server, 'resources/read', sent, call), target.prefix),
    );
  }

  async #getPrompt(params: Params, call: CallContext): Promise<object> {
    const { server, name } = this.#promptOf(params);
    const choice = this.#promptChoice(server, name);
    const isListed = this.#context.primitives.view().prompt(choice.id) !== undefined;
    const read: Read = { method: 'prompts/get', choice, isListed, sent: params };
    return this.#guarded(read, call, (call) => this.#send(server, 'prompts/get', { ...params, name }, call));
  }

  async #guarded(read: Read, call: CallContext, send: (call: CallContext) => Promise<object>): Promise<object> {
    const sessionId = this.#states.of(call.session).id;
    const result = await guardedRead(read, call, { context: this.#context, sessionId }, send);
    return this.#context.masks(false) ? (scrubValue(result, read.choice.server) as object) : result;
  }

  /** Applies the user's rules without counting a read. */
  async #allowed(choice: CatalogTool, call: CallContext, sent: Params): Promise<void> {
    try {
      await authorized(this.#context.primitives, choice, call, { ...sent });
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      throw new RpcError(INTERNAL_ERROR, error.message, error.toObject());
    }
  }

  async #complete(params: Params, call: CallContext): Promise<object> {
    const ref = (params.ref ?? {}) as Params;
    if (ref.type === 'ref/prompt') {
      const { server, name } = this.#promptOf(ref);
      await this.#allowed(this.#promptChoice(server, name), call, params);
      return this.#send(server, 'completion/complete', { ...params, ref: { ...ref, name } }, call);
    }
    const target = await this.#targetOf(ref, call);
    await this.#allowed(this.#resourceChoice(target), call, params);
    return this.#send(target.server, 'completion/complete', { ...params, ref: { ...ref, uri: target.uri } }, call);
  }

  /** Returns the server of an address. A single server has every address, listed or not. */
  async #targetOf(params: Params, call: CallContext): Promise<ResourceTarget> {
    const uri = textParam(params, 'uri');
    const only = this.#only;
    return only ? { server: only.config.name, uri, prefix: '' } : this.#primitives.targetOf(uri, call);
  }

  #resourceChoice(target: ResourceTarget): CatalogTool {
    return this.#context.primitives.view().choiceAt(target);
  }

  #promptChoice(server: string, name: string): CatalogTool {
    return this.#context.primitives.view().promptAt({ server, name });
  }

  #promptOf(params: Params): { server: string; name: string } {
    const name = textParam(params, 'name');
    const only = this.#only;
    if (only) return { server: only.config.name, name };
    const owners = this.#context
      .connections()
      .map(({ config: { name: server } }) => ({
        server,
        prefix: prefixed(this.#context.view().namespaceOf(server), ''),
      }))
      // A namespace may begin with another one and two underscores.
      .sort((a, b) => b.prefix.length - a.prefix.length);
    const found = owners.find(({ prefix }) => name.startsWith(prefix));
    if (found) return { server: found.server, name: name.slice(found.prefix.length) };
    throw new RpcError(INVALID_PARAMS, `There is no prompt ${quoted(name, 100)}.`);
  }

  /** Sends a request that no rule of the user names. A secret in it is refused without a question. */
  async #sendUnasked(server: string, method: string, params: Params, call: CallContext): Promise<Params> {
    const sent = { ...params, ...(call.meta && { _meta: call.meta }) };
    const refusal = this.#context.primitives.egressRefusal(server, sent, { session: call.session });
    if (refusal) throw new RpcError(INTERNAL_ERROR, refusal.message, refusal.toObject());
    return this.#send(server, method, params, call);
  }

  async #send(server: string, method: string, given: Params, call: CallContext): Promise<Record<string, unknown>> {
    const upstream = this.#primitives.upstreamOf(server);
    const { _meta, ...params } = given;
    const { signal, progress: onProgress } = call;
    const { [RESUMED_META]: _resumed, ...meta } = call.meta ?? {};
    try {
      return await this.#context.clientRequests.during(call, (origin) =>
        requestInTime(
          upstream,
          method,
          params,
          { signal, origin, meta, ...(onProgress && { onProgress }) },
          FORWARDED_TIMEOUT_MS,
        ),
      );
    } catch (error) {
      throw requestError(server, method, error, {
        isMasked: this.#context.masks(true),
        required: (data) => this.#context.clientRequests.requiredElicitations(server, data, call.peer),
      });
    }
  }
}
