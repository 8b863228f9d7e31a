import { existsSync, readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import type { RpcMessage } from '../hostProcess.ts';

/** Message between an MCP client and a server. */
export interface Recorded {
  from: 'client' | 'server';
  /** Headers of its request, over HTTP. */
  headers?: IncomingHttpHeaders;
  frame: RpcMessage;
}

/** Protocol as it was on the wire. */
export interface Spoken {
  /** Method of the first message. */
  opening: string;
  /** Revision in which the call was made. */
  revision: string;
}

/** Reads what `tee.mjs` wrote. */
export function recordedIn(file: string): Recorded[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Recorded);
}

/** Returns how the client opened, and the revision of its call whose arguments contain this text, if it made one. */
export function spokenFor(text: string, recorded: readonly Recorded[]): Spoken | undefined {
  const fromClient = recorded.filter(({ from }) => from === 'client');
  const call = fromClient.find(
    ({ frame }) => frame.method === 'tools/call' && JSON.stringify(frame.params).includes(text),
  );
  if (!call) return undefined;
  const meta = call.frame.params?._meta as Record<string, string> | undefined;
  const agreed = recorded.find(({ frame }) => typeof frame.result?.protocolVersion === 'string');
  const revision =
    meta?.['io.modelcontextprotocol/protocolVersion'] ??
    call.headers?.['mcp-protocol-version'] ??
    agreed?.frame.result?.protocolVersion;
  return { opening: String(fromClient[0]?.frame.method), revision: String(revision) };
}
