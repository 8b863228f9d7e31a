import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ElicitationCompleteNotificationSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Address } from './eraWorld.ts';

export type CallTool = (name: string, args: Record<string, unknown>) => Promise<string>;

/** Person at a client, who answers its questions. */
export interface Person {
  /** Kinds of questions that the client can show. */
  elicitation: { form?: Record<string, string>; url?: Record<string, string> };
  answer(question: Readonly<Record<string, unknown>>): Answer | Promise<Answer>;
  /** Hears that what a URL was for is complete. Sessions alone have that notification. */
  completed?(elicitationId: string): void;
}

type Answer = { action: 'accept' | 'decline' | 'cancel'; content?: Record<string, string> };

export interface SdkClient {
  name: string;
  package: string;
  /** Revision that it speaks with the gateway. */
  revision: string;
  connect(address: Address, person?: Person): Promise<{ callTool: CallTool; close(): Promise<void> }>;
}

const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';
const INFO = { name: 'test-client', version: '1.0.0' };

/** Clients of both versions of the SDK; version 2 in each mode of its negotiation. */
export const SDK_CLIENTS: readonly SdkClient[] = [
  {
    name: 'SDK 1.x',
    package: '@modelcontextprotocol/sdk',
    revision: LEGACY,
    async connect(address, person) {
      const client = new Client(INFO, person && { capabilities: { elicitation: person.elicitation } });
      if (person) {
        client.setRequestHandler(ElicitRequestSchema, async ({ params }) => person.answer(params));
        client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) =>
          person.completed?.(params.elicitationId),
        );
      }
      const transport = 'url' in address ? new StreamableHTTPClientTransport(new URL(address.url)) : stdio(address);
      await client.connect(transport as Transport);
      return {
        callTool: async (name, args) => words(await client.callTool({ name, arguments: args })),
        close: () => client.close(),
      };
    },
  },
  modern('legacy', 'legacy', LEGACY),
  modern('auto', 'auto', MODERN),
  modern('pinned', { pin: MODERN }, MODERN),
];

function stdio({ command, args, env }: Exclude<Address, { url: string }>): StdioClientTransport {
  return new StdioClientTransport({ command, args, env });
}

function modern(name: string, mode: 'legacy' | 'auto' | { pin: string }, revision: string): SdkClient {
  return {
    name: `SDK 2.x, ${name}`,
    package: '@modelcontextprotocol/client',
    revision,
    async connect(address, person) {
      const capabilities = person ? { elicitation: person.elicitation } : {};
      const client = new ModernClient(INFO, { capabilities, versionNegotiation: { mode } });
      if (person) {
        client.setRequestHandler('elicitation/create', async ({ params }) => person.answer(params));
        client.setNotificationHandler('notifications/elicitation/complete', ({ params }) =>
          person.completed?.(params.elicitationId),
        );
      }
      const transport = 'url' in address ? new ModernHttp(new URL(address.url)) : new ModernStdio(address);
      await client.connect(transport);
      return {
        callTool: async (name, args) => words(await client.callTool({ name, arguments: args })),
        close: () => client.close(),
      };
    },
  };
}

function words(result: unknown): string {
  const { content = [] } = result as { content?: { text?: string }[] };
  return content.map(({ text = '' }) => text).join('\n');
}

/** Finds `echo` of a server with one tool of the gateway, runs it with another and returns what it read. */
export async function browseAndCall(callTool: CallTool, server: string, text: string): Promise<string> {
  const tool_id = echoIn(await callTool('tool_browse', { path: `/${server}` }), server);
  return callTool('tool_execute', { tool_id, args: { text } });
}

/** Returns the id of a server's `echo` in what a client read. */
export function echoIn(listing: string, server: string): string {
  const id = new RegExp(`${server}:echo#[0-9a-f]{8}`).exec(listing)?.[0];
  if (id === undefined) throw new Error(`No echo of ${server} in: ${listing.slice(0, 500)}`);
  return id;
}
