import type { Socket } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { ErrorCode, McpError, type Result } from '@modelcontextprotocol/sdk/types.js';
import { oneLine } from '../ops/porcelain.ts';
import { STOPPED_NOTIFICATION } from './frames.ts';
import { LineTransport } from './mcpTransport.ts';

/** Who calls. `session` is the same object for one session's calls: what a surface remembers of it hangs on it. */
export interface SurfaceCall {
  signal: AbortSignal;
  client: string;
  session: object;
}

const CLIENT_CHARS = 64;

/** What a session serves: plain data in and out, the SDK stays in this room. */
export interface SessionSurface {
  serverInfo: { name: string; title: string; version: string };
  capabilities: Record<string, unknown>;
  instructions: string;
  listTools(): readonly object[];
  /** Never rejects: faults are results (design.md §3). */
  callTool(name: string, args: unknown, call: SurfaceCall): Promise<object>;
}

export interface SessionClient {
  name: string;
  version: string;
  protocolVersion: string;
}

export interface SessionServer {
  readonly client: SessionClient;
  onClose(listener: () => void): void;
  /** Tells the host that the worker goes because it was asked to. */
  announceStop(): void;
  dispose(): void;
}

/** One client's MCP session, on the socket that its host has attached. */
export function serveSession(socket: Socket, surface: SessionSurface): SessionServer {
  const server = new Server(surface.serverInfo, {
    capabilities: surface.capabilities,
    instructions: surface.instructions,
  });
  const closed = new Set<() => void>();
  let protocolVersion = '';
  const client = (): SessionClient => {
    const version = server.getClientVersion();
    // A client says what it likes of itself; a person reads it.
    return {
      name: oneLine(version?.name ?? 'unknown client', CLIENT_CHARS),
      version: oneLine(version?.version ?? '', CLIENT_CHARS),
      protocolVersion,
    };
  };
  // The typed handlers would judge a whole result by its strictest part; what a server sent is passed on as it is.
  server.fallbackRequestHandler = async (request, extra): Promise<Result> => {
    const params = (request.params ?? {}) as Record<string, unknown>;
    switch (request.method) {
      case 'tools/list':
        return { tools: surface.listTools() };
      case 'tools/call': {
        const name = String(params['name']);
        const result = await surface.callTool(name, params['arguments'] ?? {}, {
          signal: extra.signal,
          client: client().name,
          session: server,
        });
        return result as Result;
      }
      default:
        throw new McpError(ErrorCode.MethodNotFound, `Method not found: ${request.method}`);
    }
  };
  server.onclose = () => {
    socket.destroy();
    for (const listener of closed) listener();
  };
  const transport = new LineTransport({ input: socket, output: socket });
  void server.connect(transport);
  const onmessage = transport.onmessage;
  transport.onmessage = (message) => {
    // The SDK does not tell what was negotiated; the host has put the settled version into its request.
    if ('method' in message && message.method === 'initialize') {
      protocolVersion = String(message.params?.['protocolVersion'] ?? '');
    }
    onmessage?.(message);
  };
  socket.resume();
  return {
    get client() {
      return client();
    },
    onClose: (listener) => void closed.add(listener),
    announceStop: () => void transport.send({ jsonrpc: '2.0', method: STOPPED_NOTIFICATION }).catch(() => undefined),
    dispose: () => void server.close(),
  };
}
