import { type ReadTarget, readRpcError } from '../../calls/pipeline/readRequest.ts';
import type { OfferedPrompt } from '../../catalog/primitives/primitiveCatalog.ts';
import type { CatalogTool } from '../../catalog/types.ts';
import { INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, RESOURCE_NOT_FOUND } from '../../errors/rpcCodes.ts';
import { RpcError } from '../../errors/rpcError.ts';
import type { CallContext, ClientPeer, SessionMode } from '../../mcp/session/sessionMode.ts';
import { RESUMED_META } from '../../replay/replay.ts';
import { oneLine, quoted } from '../../text/porcelain.ts';
import { visibleData } from '../../text/visibleText.ts';
import type { ClientNews } from '../shared/client/clientNews.ts';
import { pageOf } from './pages.ts';
import {
  asked,
  authorized,
  found,
  LIST_WAIT_MS,
  type PrimitivePorts,
  type PrimitiveUpstream,
} from './primitivePorts.ts';
import type { PrimitiveView } from './primitiveView.ts';
import type { ResourceTarget } from './resourceDirectory.ts';
import { textParam } from './textParam.ts';

type Json = Record<string, unknown>;
type Params = Readonly<Json>;

/**
 * Serves MCP's own methods for resources and prompts over all servers, for requests by the client or its user rather
 * than the model. Addresses and names are the client's. Lists and prompts are text, so nothing in them is hidden. The
 * contents of a resource are data and stay byte for byte what the server sent.
 */
export class ClientPrimitives {
  readonly #ports: PrimitivePorts;
  readonly #news: ClientNews;

  constructor(ports: PrimitivePorts, news: ClientNews) {
    this.#ports = ports;
    this.#news = news;
  }

  /** Returns undefined for any other method. */
  readonly request: NonNullable<SessionMode['request']> = (method, params, call) => {
    switch (method) {
      case 'resources/list':
        return this.#list('resources', params, call, ({ resourceDirectory }) => [
          ...((this.#ports.own?.list() ?? []) as readonly Params[]),
          ...resourceDirectory.resources,
        ]);
      case 'resources/templates/list':
        return this.#list('resourceTemplates', params, call, ({ resourceDirectory }) => resourceDirectory.templates);
      case 'resources/read':
        return this.#readResource(params, call);
      case 'resources/subscribe':
        return this.#subscribe(params, call);
      case 'resources/unsubscribe':
        return this.#unsubscribe(params, call);
      case 'prompts/list':
        return this.#list('prompts', params, call, ({ promptDirectory }) => promptDirectory.prompts);
      case 'prompts/get':
        return this.#getPrompt(params, call);
      case 'completion/complete':
        return this.#complete(params, call);
      default:
        return undefined;
    }
  };

  /** Registers a session and returns a function that removes it. */
  readonly open = (peer: ClientPeer): (() => void) => {
    const leave = this.#news.add(peer);
    return () => {
      leave();
      this.#ports.subscriptions.end(peer.session);
    };
  };

  async #list(
    key: string,
    { cursor }: Params,
    { signal }: CallContext,
    items: (view: PrimitiveView) => readonly object[],
  ): Promise<object> {
    await this.#ports.settled(LIST_WAIT_MS, signal);
    return visibleData(pageOf(key, items(this.#ports.view()), cursor));
  }

  async #readResource(params: Params, call: CallContext): Promise<object> {
    const address = textParam(params, 'uri');
    const contents = this.#ports.own?.read(address);
    if (contents) return { contents };
    const target = await this.targetOf(address, call);
    const id = { id: address, server: target.server };
    const sent = { ...params, uri: target.uri };
    const result = await this.#ask(id, this.#choiceAt(target), 'resources/read', sent, call);
    return withPrefix(result, target.prefix);
  }

  async #subscribe(params: Params, call: CallContext): Promise<object> {
    const address = textParam(params, 'uri');
    const peer = this.#peerOf(call);
    // The gateway's own resources change all the time, so Waygate sends no updates of them.
    if (this.#ports.own?.read(address)) return {};
    const target = await this.targetOf(address, call);
    await this.#guarded({ id: address, server: target.server }, async () => {
      await authorized(this.#ports, this.#choiceAt(target), call, { uri: target.uri });
      await this.#ports.subscriptions.subscribe(peer, target);
    });
    if (call.meta?.[RESUMED_META] === true) this.#ports.subscriptions.resumed(peer.session, target);
    return {};
  }

  async #unsubscribe(params: Params, call: CallContext): Promise<object> {
    const address = textParam(params, 'uri');
    const { session } = this.#peerOf(call);
    if (this.#ports.own?.read(address)) return {};
    await this.#ports.subscriptions.unsubscribe(session, await this.targetOf(address, call));
    return {};
  }

  async #getPrompt(params: Params, call: CallContext): Promise<object> {
    const { prompt, choice } = await this.#prompt(textParam(params, 'name'), call);
    return visibleData(await this.#ask(prompt, choice, 'prompts/get', { ...params, name: prompt.name }, call));
  }

  async #complete(params: Params, call: CallContext): Promise<object> {
    const ref = (params.ref ?? {}) as Params;
    let target: ReadTarget;
    let choice: CatalogTool;
    let own: Json;
    if (ref.type === 'ref/prompt') {
      const found = await this.#prompt(textParam(ref, 'name'), call);
      target = found.prompt;
      choice = found.choice;
      own = { ...ref, name: found.prompt.name };
    } else if (ref.type === 'ref/resource') {
      const address = textParam(ref, 'uri');
      const found = await this.targetOf(address, call);
      target = { id: address, server: found.server };
      choice = this.#choiceAt(found);
      own = { ...ref, uri: found.uri };
    } else throw new RpcError(INVALID_PARAMS, '"ref" must be of type "ref/prompt" or "ref/resource".');
    // A server without completion offers no values, which is no error.
    const { capabilities } = this.upstreamOf(target.server);
    if (!capabilities.completions) return { completion: { values: [], total: 0, hasMore: false } };
    return visibleData(await this.#ask(target, choice, 'completion/complete', { ...params, ref: own }, call));
  }

  /** Sends a request to a server. `params` drops the client's `_meta`, because the call adds it. */
  #ask(target: ReadTarget, choice: CatalogTool, method: string, params: Json, call: CallContext): Promise<Json> {
    const { _meta: _, ...plain } = params;
    return this.#guarded(target, async () => {
      await authorized(this.#ports, choice, call, plain);
      return asked(this.#ports, this.upstreamOf(target.server), method, plain, call);
    });
  }

  async #guarded<T>(target: ReadTarget, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      throw readRpcError(error, target, this.#ports.scrubSecrets);
    }
  }

  /** Returns the server, which an edit of the configuration may have removed meanwhile. */
  upstreamOf(server: string): PrimitiveUpstream {
    const upstream = this.#ports.upstream(server);
    if (!upstream)
      throw new RpcError(INTERNAL_ERROR, `The server ${oneLine(server, 60)} is no longer in the configuration.`);
    return upstream;
  }

  /** Resolves a client's address, and waits for servers that were never listed if it is unknown. */
  async targetOf(address: string, { signal }: CallContext): Promise<ResourceTarget> {
    const target = await found(this.#ports, signal, ({ resourceDirectory }) =>
      resourceDirectory.resolve(address, this.#ports.linkedServers),
    );
    if (!target) {
      const message = `No server has the resource ${quoted(address, 200)}; resources/list shows all resources.`;
      throw new RpcError(RESOURCE_NOT_FOUND, message, { uri: address });
    }
    if ('server' in target) return target;
    throw new RpcError(INVALID_PARAMS, `Several servers have this resource; ask for ${target.instead.join(' or ')}.`);
  }

  #choiceAt(target: ResourceTarget): CatalogTool {
    return this.#ports.view().choiceAt(target);
  }

  async #prompt(name: string, { signal }: CallContext): Promise<{ prompt: OfferedPrompt; choice: CatalogTool }> {
    const wanted = await found(this.#ports, signal, (view) => {
      const prompt = view.promptDirectory.get(name);
      return prompt && { prompt, choice: view.choice(prompt.id) as CatalogTool };
    });
    if (wanted) return wanted;
    const message = `There is no prompt ${quoted(name, 100)}; prompts/list shows all prompts.`;
    throw new RpcError(INVALID_PARAMS, message);
  }

  /** Returns the session as a peer. Updates belong to the session, not to a request that has already ended. */
  #peerOf({ peer }: CallContext): ClientPeer {
    const session = peer && this.#news.get(peer.session);
    if (!session) throw new RpcError(INVALID_REQUEST, 'Initialize the session before you subscribe.');
    return session;
  }
}

/**
 * Adds the prefix to the addresses of contents. Clients compare them with the requested address: an editor treats
 * contents under another address as those of a folder.
 */
export function withPrefix(result: Json, prefix: string): Json {
  if (prefix === '' || !Array.isArray(result.contents)) return result;
  const contents = result.contents.map((one: unknown) => {
    const uri = (one as { uri?: unknown } | null)?.uri;
    return typeof uri === 'string' ? { ...(one as object), uri: prefix + uri } : one;
  });
  return { ...result, contents };
}
