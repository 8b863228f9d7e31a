import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { RpcMessage } from './hostProcess.ts';
import { atEnd } from './lifetime.ts';

export interface SseEvent {
  id: string;
  data: string;
  retry: number | undefined;
}

/** Yields the events of a stream as they arrive. */
export async function* events(response: Response): AsyncGenerator<SseEvent> {
  let text = '';
  for await (const chunk of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const event = parseEvent(text.slice(0, end));
      text = text.slice(end + 2);
      if (event) yield event;
    }
  }
}

function parseEvent(block: string): SseEvent | undefined {
  const field = (name: string): string | undefined => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1];
  const id = field('id');
  if (id === undefined) return undefined;
  const retry = field('retry');
  return { id, data: field('data') ?? '', retry: retry === undefined ? undefined : Number(retry) };
}

/** Returns the messages of a stream up to its end. */
export async function messages(response: Response): Promise<RpcMessage[]> {
  const all: RpcMessage[] = [];
  for await (const { data } of events(response)) if (data !== '') all.push(JSON.parse(data) as RpcMessage);
  return all;
}

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Sends a request with headers that `fetch` does not allow. */
export function rawRequest(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string },
): Promise<RawAnswer> {
  const { method = 'POST', headers = {}, body } = options;
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers: { ...JSON_HEADERS, ...headers }, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
    });
    request.on('error', reject);
    request.end(body);
  });
}

export const JSON_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

export const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test-client', version: '1.2.3' },
};

/** Minimal client: the test controls everything on the wire. */
export class McpHttpClient {
  readonly url: string;
  readonly headers: Record<string, string>;
  #next = 1;

  constructor(url: string, headers: Record<string, string> = {}) {
    this.url = url;
    this.headers = headers;
  }

  static async connect(url: string, params: object = {}, token?: string): Promise<McpHttpClient> {
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const stranger = new McpHttpClient(url, authorization);
    const response = await stranger.post({
      id: 'initialize',
      method: 'initialize',
      params: { ...INITIALIZE, ...params },
    });
    await messages(response);
    const session = response.headers.get('mcp-session-id') ?? '';
    const client = new McpHttpClient(url, { ...authorization, 'mcp-session-id': session });
    await client.post({ method: 'notifications/initialized' });
    return client;
  }

  /** Sends a raw body, or a message. */
  post(message: object | string, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
    const body =
      typeof message === 'string'
        ? message
        : JSON.stringify(Array.isArray(message) ? message : { jsonrpc: '2.0', ...message });
    return this.#fetch('POST', headers, signal, body);
  }

  get(headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
    return this.#fetch('GET', headers, signal);
  }

  delete(): Promise<Response> {
    return this.#fetch('DELETE');
  }

  /** Returns all messages on the stream of a request; the last is its answer. */
  async exchange(method: string, params: object = {}, id: number | string = this.#next++): Promise<RpcMessage[]> {
    return messages(await this.post({ id, method, params }));
  }

  async request(method: string, params: object = {}, id?: number | string): Promise<RpcMessage> {
    return (await this.exchange(method, params, id)).at(-1) as RpcMessage;
  }

  #fetch(method: string, headers: Record<string, string> = {}, signal?: AbortSignal, body?: string): Promise<Response> {
    const abort = new AbortController();
    signal?.addEventListener('abort', () => abort.abort());
    // Close streams that the test leaves open.
    atEnd(() => abort.abort());
    return fetch(this.url, {
      method,
      headers: { ...JSON_HEADERS, ...this.headers, ...headers },
      signal: abort.signal,
      ...(body === undefined ? {} : { body }),
    });
  }
}
