import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { encodeMessage, type JsonRpcMessage } from '../../link/frames.ts';
import { MAX_FRAME_BYTES } from '../../link/lineFraming.ts';
import { PROTOCOL_VERSIONS } from '../mcpVersions.ts';
import { claimsModern, isModernVersion } from '../modern/wire.ts';
import { type ClientMessage, parseMessages, readBody } from './clientMessages.ts';
import { type GuessLimits, HttpGuard } from './httpGuard.ts';
import { HttpRefusal } from './httpRefusal.ts';
import { HttpSession, type HttpSessionLimits } from './httpSession.ts';

export interface HttpFrontLimits extends HttpSessionLimits, GuessLimits {
  bodyBytes: number;
  sessions: number;
  /** Idle time after which a session ends. */
  idleMs: number;
  /** Interval of keep-alives and of the search for idle sessions. */
  tendMs: number;
}

export interface HttpFrontOptions {
  /** Port, or 0 for any free one. */
  port: number;
  host?: string;
  /** Bearer token that every request must carry. Without it, requests need no token. */
  token?: string;
  /** Accepted host names besides those of loopback. */
  allowedHosts?: readonly string[];
  limits?: Partial<HttpFrontLimits>;
  /** Takes lines about requests with a wrong token. */
  log?: (line: string) => void;
  /** Opens the part that serves revision 2026-07-28, at the first request of that revision. */
  openModern?(): Promise<ModernDoor>;
  /** Serves a client's session until its `input` ends. The session is over when the promise settles. */
  onSession(session: HttpSession): Promise<unknown>;
}

/** Serves requests of a revision without sessions. */
export interface ModernDoor {
  post(message: JsonRpcMessage, request: IncomingMessage, response: ServerResponse): void;
  /** Called at intervals, for keep-alives. */
  tend(): void;
  /** Ends everything. Open requests may finish. */
  close(): Promise<void>;
}

export const MCP_PATH = '/mcp';

const DEFAULT_LIMITS: HttpFrontLimits = {
  bodyBytes: MAX_FRAME_BYTES,
  sessions: 64,
  idleMs: 30 * 60_000,
  keptChars: 4 * 1024 * 1024,
  keepMs: 60_000,
  stallMs: 30_000,
  requests: 1_024,
  unreadBytes: 64 * 1024 * 1024,
  tendMs: 15_000,
  wrongTokenMs: 1_000,
  wrongTokens: 64,
};
/** Idle time after which a session gives its place to a new one, because few clients close theirs. */
const REPLACEABLE_AFTER_MS = 60_000;

/** Serves MCP's Streamable HTTP on loopback: sessions, their streams, and access to them (M4.7). */
export class HttpFront {
  readonly #options: HttpFrontOptions;
  readonly #limits: HttpFrontLimits;
  readonly #guard: HttpGuard;
  readonly #server: Server;
  readonly #sessions = new Map<string, HttpSession>();
  readonly #running = new Set<Promise<void>>();
  #modern: Promise<ModernDoor> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HttpFrontOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#guard = new HttpGuard(options.token, this.#limits, options.log ?? (() => undefined), options.allowedHosts);
    this.#server = createServer((request, response) => {
      // A client that disconnects in the middle ends its stream and nothing else.
      response.on('error', () => undefined);
      this.#answer(request, response).catch((error: Error) => this.#onFailure(error, response));
    });
  }

  /** Listens. Resolves to the URL. */
  async listen(): Promise<string> {
    const { port, host = '127.0.0.1' } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject).listen(port, host, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    this.#timer = setInterval(() => this.#tend(), this.#limits.tendMs);
    const { address, port: bound, family } = this.#server.address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}${MCP_PATH}`;
  }

  /** Accepts nothing new, lets every session finish its open requests, and ends. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#guard.close();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const session of [...this.#sessions.values()]) this.#endSession(session);
    await Promise.all([...this.#running, this.#modern?.then((modern) => modern.close())]);
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#guard.checkSource(request.headers);
    // A client that looks for an authorization server must learn that there is no such server, whatever its token.
    if (request.url?.split('?')[0] !== MCP_PATH) {
      throw new HttpRefusal(404, `There is nothing here; MCP is at ${MCP_PATH}.`);
    }
    await this.#guard.checkToken(request.headers);
    if (request.method === 'POST') await this.#onPost(request, response);
    else if (namesModern(request))
      throw new HttpRefusal(405, 'This revision of MCP uses POST only.', { allow: 'POST' });
    else if (request.method === 'GET') this.#onGet(request, response);
    else if (request.method === 'DELETE') this.#onDelete(request, response);
    else throw new HttpRefusal(405, 'MCP uses POST, GET and DELETE.', { allow: 'POST, GET, DELETE' });
  }

  async #onPost(request: IncomingMessage, response: ServerResponse): Promise<void> {
    checkAccept(request);
    if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
      throw new HttpRefusal(415, 'The Content-Type must be application/json.');
    }
    const hasSession = request.headers['mcp-session-id'] !== undefined && !namesModern(request);
    const known = hasSession ? this.#find(request) : undefined;
    const messages = parseMessages(await readBody(request, this.#limits.bodyBytes), known?.batches === true);
    if (known) {
      // The session may have ended while the body arrived.
      if (!this.#sessions.has(known.id)) throw noSession();
      known.receive(messages, response);
      return;
    }
    const [first] = messages;
    const isModern = first !== undefined && (namesModern(request) || claimsModern(first.message));
    if (!isModern && !isInitialize(messages)) throw notNamed();
    if (!this.#server.listening) throw new HttpRefusal(503, 'Waygate is about to end.');
    if (isModern) {
      const modern = await this.#openModern();
      modern.post(first.message, request, response);
      return;
    }
    const session = this.#open();
    session.receive(messages, response, { 'mcp-session-id': session.id });
  }

  #openModern(): Promise<ModernDoor> {
    const open = this.#options.openModern;
    if (!open) throw new HttpRefusal(400, `The MCP-Protocol-Version must be one of ${PROTOCOL_VERSIONS.join(', ')}.`);
    this.#modern ??= open().catch((error: Error) => {
      this.#modern = undefined;
      throw new HttpRefusal(500, `This revision of MCP is not served: ${error.message}.`);
    });
    return this.#modern;
  }

  #onGet(request: IncomingMessage, response: ServerResponse): void {
    checkAccept(request);
    const session = this.#find(request);
    const last = request.headers['last-event-id'];
    if (last === undefined) session.listen(response);
    else session.resume(String(last), response);
  }

  #onDelete(request: IncomingMessage, response: ServerResponse): void {
    this.#endSession(this.#find(request));
    response.writeHead(204).end();
  }

  /** Returns the session that a request names. */
  #find({ headers }: IncomingMessage): HttpSession {
    const id = headers['mcp-session-id'];
    if (id === undefined) throw notNamed();
    const session = this.#sessions.get(String(id));
    if (!session) throw noSession();
    const version = headers['mcp-protocol-version'];
    if (version !== undefined && !PROTOCOL_VERSIONS.some((known) => known === version)) {
      throw new HttpRefusal(400, `The MCP-Protocol-Version must be one of ${PROTOCOL_VERSIONS.join(', ')}.`);
    }
    return session;
  }

  #open(): HttpSession {
    if (this.#sessions.size >= this.#limits.sessions) {
      const all = [...this.#sessions.values()];
      const idlest = all.reduce((most, one) => (one.idleMs > most.idleMs ? one : most));
      if (idlest.idleMs < Math.min(REPLACEABLE_AFTER_MS, this.#limits.idleMs)) {
        throw new HttpRefusal(503, 'Too many sessions are open; end one.', { 'retry-after': '5' });
      }
      this.#endSession(idlest);
    }
    const session = new HttpSession(this.#limits);
    this.#sessions.set(session.id, session);
    const running = this.#options
      .onSession(session)
      .catch(() => undefined)
      .then(() => {
        this.#sessions.delete(session.id);
        session.dispose();
        this.#running.delete(running);
      });
    this.#running.add(running);
    return session;
  }

  /** Ends a session: new requests get 404, open ones may finish. */
  #endSession(session: HttpSession): void {
    this.#sessions.delete(session.id);
    session.end();
  }

  #tend(): void {
    for (const session of [...this.#sessions.values()]) {
      session.tend();
      if (session.idleMs > this.#limits.idleMs) this.#endSession(session);
    }
    void this.#modern?.then((modern) => modern.tend()).catch(() => undefined);
  }

  #onFailure(error: Error, response: ServerResponse): void {
    if (response.headersSent) {
      response.destroy();
      return;
    }
    // By its name: the bundle of the modern era has its own class.
    const isRefusal = error.name === 'HttpRefusal';
    const known = isRefusal ? (error as HttpRefusal) : new HttpRefusal(500, 'The request could not be handled.');
    const { status, headers, code, message } = known;
    // Without an id, because the error is about the HTTP request (MCP 2025-11-25, Transports).
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(encodeMessage({ error: { code, message } }));
  }
}

function namesModern({ headers }: IncomingMessage): boolean {
  return isModernVersion(headers['mcp-protocol-version']?.toString());
}

function noSession(): HttpRefusal {
  return new HttpRefusal(404, 'The session does not exist or has ended; begin a new one with initialize.');
}

function notNamed(): HttpRefusal {
  return new HttpRefusal(400, 'The header Mcp-Session-Id is missing; a session begins with initialize.');
}

function checkAccept({ headers }: IncomingMessage): void {
  if (/text\/event-stream|text\/\*|\*\/\*/i.test(headers.accept ?? '*/*')) return;
  throw new HttpRefusal(406, 'The header Accept must name application/json and text/event-stream.');
}

function isInitialize(messages: readonly ClientMessage[]): boolean {
  const [first] = messages;
  return messages.length === 1 && first?.message.method === 'initialize' && first.message.id !== undefined;
}
