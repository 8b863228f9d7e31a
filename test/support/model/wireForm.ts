import type { ServerResponse } from 'node:http';

export interface ToolCall {
  tool: string;
  args: object;
}

export interface OfferedTool {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
}

export interface ModelMessage {
  /** `tool` for the result of a call. */
  role: 'system' | 'user' | 'assistant' | 'tool';
  text: string;
}

/** Content of a request to a model, in any wire form. */
export interface ModelRequest {
  model: string;
  messages: ModelMessage[];
  tools: OfferedTool[];
  /** Whether the client wants events instead of one JSON document. */
  streams: boolean;
}

/** HTTP interface of a vendor's models. */
export interface WireForm {
  path: RegExp;
  /** Reads the body of a request whose path fits. */
  read(body: unknown, path: string): ModelRequest;
  write(response: ServerResponse, request: ModelRequest, text: string, calls: readonly ToolCall[]): void;
}

/** Text of content that is a string, or parts of which most have one. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: { text?: string }) => part.text ?? JSON.stringify(part)).join('\n');
}

let calls = 0;

/** Returns an id that no other call of this process has. */
export function callId(): string {
  calls += 1;
  return `call_${calls}`;
}

/** Sends an event of a stream, with its name if the form names events. */
export function sendEvent(response: ServerResponse, data: object, name?: string): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`);
}

export function sendJson(response: ServerResponse, document: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
}
