import { type RpcMessage, type StreamClient, until, withoutFence } from './hostProcess.ts';
import { atEnd } from './lifetime.ts';
import { JSON_HEADERS } from './mcpHttp.ts';
import { MODERN, modernMeta } from './modernMeta.ts';

/** Client that declares elicitation by form. */
export const ELICITS = { elicitation: { form: {} } };

type Send = (method: string, params: object) => Promise<RpcMessage>;

/** Client of revision 2026-07-28 over any transport. */
export class ModernCaller {
  readonly #send: Send;
  capabilities: object;

  constructor(send: Send, capabilities: object = {}) {
    this.#send = send;
    this.capabilities = capabilities;
  }

  static on(client: StreamClient, capabilities: object = {}): ModernCaller {
    return new ModernCaller((method, params) => client.request(method, params), capabilities);
  }

  request(method: string, params: object = {}, meta: object = {}): Promise<RpcMessage> {
    return this.#send(method, { ...params, _meta: modernMeta(this.capabilities, meta) });
  }

  call(name: string, args: object, more: object = {}): Promise<RpcMessage> {
    return this.request('tools/call', { name, arguments: args, ...more });
  }

  /** Waits for the tool at `path` and returns its id. */
  toolId(path: string): Promise<string> {
    return until(`a tool at ${path}`, async () => {
      const { result } = await this.call('tool_browse', { path, render: 'json' });
      const { cards = [] } = (result?.structuredContent ?? {}) as { cards?: { id: string; kind: string }[] };
      return cards.find((card) => card.kind === 'tool')?.id;
    });
  }
}

/** Returns the text of a result, without the fence around foreign data. */
export function textOf({ result, error }: RpcMessage): string {
  if (!result) return `error ${error?.code}: ${error?.message}`;
  const content = (result.content ?? []) as { text?: string }[];
  return withoutFence(content.map(({ text }) => text ?? '').join(''));
}

export interface Asked {
  inputRequests: Record<string, { method: string; params: Record<string, unknown> }>;
  requestState: string;
}

/** Returns the question of an answer, which must be `input_required`. */
export function askedIn({ result, error }: RpcMessage): Asked {
  if (result?.resultType !== 'input_required') throw new Error(`no question but ${JSON.stringify(result ?? error)}`);
  return result as unknown as Asked;
}

/** Makes the members that answer every question of a result alike. */
export function answering({ inputRequests, requestState }: Asked, response: object): object {
  return { requestState, inputResponses: Object.fromEntries(Object.keys(inputRequests).map((key) => [key, response])) };
}

export const ONCE = { action: 'accept', content: { remember: 'once' } };

/** Answer to a POST: its status, and the messages of its body. The last is the answer to the request. */
export interface Posted {
  status: number;
  type: string;
  messages: RpcMessage[];
}

/** Client of revision 2026-07-28 over HTTP: every request is a POST of its own. */
export class ModernHttp {
  readonly url: string;
  readonly headers: Record<string, string>;
  #next = 1;

  constructor(url: string, token?: string) {
    this.url = url;
    this.headers = { ...JSON_HEADERS, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  }

  caller(capabilities: object = {}): ModernCaller {
    return new ModernCaller(
      async (method, params) => (await this.post(method, params)).messages.at(-1) as RpcMessage,
      capabilities,
    );
  }

  async post(method: string, params: object, headers: Record<string, string | undefined> = {}): Promise<Posted> {
    const response = await this.open(method, params, headers);
    const text = await response.text();
    const type = response.headers.get('content-type') ?? '';
    const parts = type === 'text/event-stream' ? [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data) : [text];
    return {
      status: response.status,
      type,
      messages: parts.map((part) => (part ? (JSON.parse(part) as RpcMessage) : {})),
    };
  }

  /** Sends a request with the headers that repeat it. A header that is `undefined` is left out. */
  open(
    method: string,
    params: object,
    headers: Record<string, string | undefined> = {},
    signal?: AbortSignal,
  ): Promise<Response> {
    const abort = new AbortController();
    signal?.addEventListener('abort', () => abort.abort());
    // Closes a stream that the test leaves open.
    atEnd(() => abort.abort());
    const { name, uri } = params as { name?: string; uri?: string };
    const own = { 'mcp-protocol-version': MODERN, 'mcp-method': method, 'mcp-name': name ?? uri, ...headers };
    const set = Object.entries({ ...this.headers, ...own }).filter(([, value]) => value !== undefined);
    return fetch(this.url, {
      method: 'POST',
      headers: Object.fromEntries(set) as Record<string, string>,
      body: JSON.stringify({ jsonrpc: '2.0', id: this.#next++, method, params }),
      signal: abort.signal,
    });
  }
}
