import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { GrantMember } from '../../src/records/grants/membership.ts';
import type { RecordAnswer, RecordProvider, RecordRequest } from '../../src/records/provider/recordProvider.ts';
import { callTool, isTool } from '../../src/records/surface/recordSurface.ts';

type Answers = (request: RecordRequest) => unknown;

/** Provider in memory: the answers come from a function, and every request is kept. */
export class Answering implements RecordProvider {
  readonly url = 'https://rs.example';
  readonly asked: RecordRequest[] = [];
  readonly #answers: Answers;

  constructor(answers: Answers) {
    this.#answers = answers;
  }

  async get(request: RecordRequest): Promise<RecordAnswer> {
    this.asked.push(request);
    const body = this.#answers(request);
    if (body instanceof Error) throw body;
    return isAnswer(body) ? body : { status: 200, body };
  }

  dispose(): Promise<void> {
    return Promise.resolve();
  }
}

function isAnswer(value: unknown): value is RecordAnswer {
  return typeof value === 'object' && value !== null && 'status' in value && 'body' in value;
}

export interface Called {
  text: string;
  data: Record<string, unknown>;
  structured: Record<string, unknown>;
  error: Record<string, unknown> | undefined;
}

/** Calls a tool and returns its result in parts. */
export async function call(provider: RecordProvider, tool: string, args: unknown = {}): Promise<Called> {
  if (!isTool(tool)) throw new Error(`no tool ${tool}`);
  const { content, structuredContent, isError } = await callTool(tool, args, { provider });
  const { data, error } = structuredContent as { data?: Record<string, unknown>; error?: Record<string, unknown> };
  if ((error !== undefined) !== (isError === true)) throw new Error('isError and error disagree');
  return { text: content.map(({ text }) => text).join('\n'), data: data ?? {}, structured: structuredContent, error };
}

export function member(provider: RecordProvider, at: number, more: Partial<GrantMember> = {}): GrantMember {
  return {
    provider,
    grantId: `grt_${at}`,
    connectorKey: 'mailbox',
    displayName: `Account ${at}`,
    connections: [{ connectionId: `cin_${at}`, displayName: `Account ${at}` }],
    streams: ['messages'],
    ...more,
  };
}

export interface Connector {
  key?: string;
  streams: readonly { name: string; fields?: Readonly<Record<string, string>>; connections?: readonly string[] }[];
}

/** Makes a compact schema document. */
export function schemaOf(...connectors: readonly Connector[]): Record<string, unknown> {
  return {
    object: 'schema',
    bearer: { token_kind: 'client' },
    connectors: connectors.map(({ key = 'mailbox', streams }) => ({
      connector_key: key,
      streams: streams.map(({ name, fields = {}, connections = ['cin_1'] }) => ({
        name,
        primary_key: ['id'],
        cursor_field: 'sent_at',
        field_capabilities: fields,
        expand_capabilities: [],
        granted_connections: connections.map((id) => ({ connection_id: id, display_name: `Account ${id}` })),
      })),
    })),
  };
}

/** Serves HTTP on loopback for one test. */
export async function httpServer(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
