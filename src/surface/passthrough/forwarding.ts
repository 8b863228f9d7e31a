import { RESUMED_META } from '../../ops/replay.ts';
import { RpcError } from '../../ops/rpcError.ts';
import type { ClientPeer, SurfaceCall } from '../../protocol/sessionServer.ts';
import type { ServerConnection } from '../../upstream/serverConnection.ts';
import { listEverywhere, ResourceOwners } from './owners.ts';
import type { PassthroughContext } from './passthroughContext.ts';
import { faultError } from './serverError.ts';
import { Subscriptions } from './subscriptions.ts';
import { prefixed } from './toolRoutes.ts';

type Params = Readonly<Record<string, unknown>>;

const FORWARDED_TIMEOUT_MS = 120_000;
const INVALID_PARAMS = -32602;
/** A client lists everything again for each announcement. */
const ANNOUNCE_DELAY_MS = 200;

/** What is listed, and under which capability: a server without it is not asked. */
const LISTS: Readonly<Record<string, { capability: string; key: string }>> = {
  'resources/list': { capability: 'resources', key: 'resources' },
  'resources/templates/list': { capability: 'resources', key: 'resourceTemplates' },
  'prompts/list': { capability: 'prompts', key: 'prompts' },
};
const LIST_CHANGES = ['notifications/resources/list_changed', 'notifications/prompts/list_changed'] as const;

/** Everything but tools: to the one server as it came, or to whose resource or prompt it is. */
export class Forwarding {
  readonly #context: PassthroughContext;
  readonly #owners: ResourceOwners;
  readonly #subscriptions = new Subscriptions();
  readonly #sessions = new Map<object, ClientPeer>();
  /** Who is to be told, by method: the sessions that were there when it was announced. */
  readonly #announcing = new Map<string, Set<object>>();

  constructor(context: PassthroughContext) {
    this.#context = context;
    this.#owners = new ResourceOwners(() => context.connections());
  }

  /** Hears what a server tells by itself. */
  attach(connection: ServerConnection): void {
    for (const method of LIST_CHANGES) {
      connection.onNotification(method, () => {
        this.#owners.forget();
        this.announce(method);
      });
    }
    connection.onNotification('notifications/resources/updated', (params) => {
      for (const peer of this.#subscriptions.listeners(connection, String(params.uri))) {
        peer.notify('notifications/resources/updated', params);
      }
    });
    connection.onReady(() => this.#subscriptions.renew(connection));
  }

  /** Tells every session of this face; a server that announces without end is told of now and then. */
  announce(method: string): void {
    const waiting = this.#announcing.get(method);
    const told = new Set([...(waiting ?? []), ...this.#sessions.keys()]);
    this.#announcing.set(method, told);
    if (waiting) return;
    setTimeout(() => {
      const due = this.#announcing.get(method) ?? [];
      this.#announcing.delete(method);
      for (const session of due) this.#sessions.get(session)?.notify(method);
    }, ANNOUNCE_DELAY_MS).unref();
  }

  open(peer: ClientPeer): () => void {
    this.#sessions.set(peer.session, peer);
    return () => {
      this.#sessions.delete(peer.session);
      this.#subscriptions.leave(peer.session);
    };
  }

  request(method: string, params: Params, call: SurfaceCall): Promise<object> | undefined {
    const list = LISTS[method];
    const only = this.#only;
    if (list) return only ? this.#listOf(only, list, method, params, call) : this.#listAll(method);
    switch (method) {
      case 'resources/read':
        return this.#ownerOf(params).then((owner) => this.#send(owner, method, params, call));
      case 'resources/subscribe':
        return this.#subscribe(params, call);
      case 'resources/unsubscribe':
        return this.#unsubscribe(params, call);
      case 'prompts/get':
        return this.#promptOf(params).then(({ owner, name }) => this.#send(owner, method, { ...params, name }, call));
      case 'completion/complete':
        return this.#complete(params, call);
      default:
        return only && this.#send(only, method, params, call);
    }
  }

  /** What a client tells goes on where there is no doubt to whom. */
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
    call: SurfaceCall,
  ): Promise<object> {
    await this.#context.settled();
    return server.capabilities[capability] ? this.#send(server, method, params, call) : { [key]: [] };
  }

  async #listAll(method: string): Promise<object> {
    await this.#context.settled();
    if (method === 'resources/list') return { resources: await this.#owners.resources() };
    if (method === 'resources/templates/list') return { resourceTemplates: await this.#owners.templates() };
    const all = await listEverywhere(this.#context.connections(), 'prompts', 'prompts/list', 'prompts');
    return {
      prompts: all.flatMap(({ connection, items }) =>
        items.map((prompt) => ({ ...prompt, name: prefixed(this.#namespaceOf(connection), String(prompt.name)) })),
      ),
    };
  }

  async #subscribe(params: Params, call: SurfaceCall): Promise<object> {
    const owner = await this.#ownerOf(params);
    const answer = await this.#send(owner, 'resources/subscribe', params, call);
    if (call.peer) this.#subscriptions.add(owner, String(params.uri), call.peer);
    // What has changed while there was no worker nobody has told the client.
    if (call.meta?.[RESUMED_META]) call.peer?.notify('notifications/resources/updated', { uri: params.uri });
    return answer;
  }

  async #unsubscribe(params: Params, call: SurfaceCall): Promise<object> {
    const owner = await this.#ownerOf(params);
    const wasLast = this.#subscriptions.remove(owner, String(params.uri), call.peer?.session ?? call.session);
    return wasLast ? this.#send(owner, 'resources/unsubscribe', params, call) : {};
  }

  async #complete(params: Params, call: SurfaceCall): Promise<object> {
    const ref = (params.ref ?? {}) as Params;
    if (ref.type === 'ref/prompt') {
      const { owner, name } = await this.#promptOf(ref);
      return this.#send(owner, 'completion/complete', { ...params, ref: { ...ref, name } }, call);
    }
    return this.#send(await this.#ownerOf(ref), 'completion/complete', params, call);
  }

  #ownerOf({ uri }: Params): Promise<ServerConnection> {
    const only = this.#only;
    return only ? Promise.resolve(only) : this.#owners.of(String(uri));
  }

  async #promptOf({ name }: Params): Promise<{ owner: ServerConnection; name: unknown }> {
    const only = this.#only;
    if (only) return { owner: only, name };
    const owners = this.#context
      .connections()
      .map((owner) => ({ owner, prefix: prefixed(this.#namespaceOf(owner), '') }))
      // A namespace may itself begin with another and two underscores.
      .sort((a, b) => b.prefix.length - a.prefix.length);
    const found = owners.find(({ prefix }) => String(name).startsWith(prefix));
    if (found) return { owner: found.owner, name: String(name).slice(found.prefix.length) };
    throw new RpcError(INVALID_PARAMS, `There is no prompt ${JSON.stringify(String(name).slice(0, 120))}.`);
  }

  #namespaceOf(connection: ServerConnection): string {
    return this.#context.view().namespaceOf(connection.config.name);
  }

  async #send(server: ServerConnection, method: string, given: Params, call: SurfaceCall): Promise<object> {
    const { _meta, ...params } = given;
    const { signal, progress: onProgress } = call;
    const { [RESUMED_META]: _resumed, ...meta } = call.meta ?? {};
    try {
      return await this.#context.clientRequests.during(call, (origin) =>
        server.request(method, params, {
          timeoutMs: FORWARDED_TIMEOUT_MS,
          signal,
          origin,
          meta,
          ...(onProgress ? { onProgress } : {}),
        }),
      );
    } catch (error) {
      throw faultError(server.config.name, error);
    }
  }
}
