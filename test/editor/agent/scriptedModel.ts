import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** Language model on loopback (OpenAI chat completions) whose answers a test writes. */

export interface ToolCall {
  tool: string;
  args: object;
}

export interface OfferedTool {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
}

/** Content of one request to the model, as far as a script needs it. */
export interface Reading {
  system: string;
  tools: OfferedTool[];
  /** Results of the calls of the previous step, in the order of the calls. */
  results: string[];
}

/** Returns the tool calls of the model's next message. */
export type Step = (reading: Reading) => ToolCall | ToolCall[];

/** Turn of the chat, which ends when the script has no further step. */
export interface Turn {
  readonly id: string;
  readonly readings: Reading[];
  /** Questions that the user was asked. */
  readonly questions: string[];
  /** Error of a step. */
  failure?: unknown;
  isOver: boolean;
}

interface Message {
  role: string;
  content: unknown;
  tool_call_id?: string;
}

interface ChatRequest {
  model: string;
  messages: Message[];
  tools?: { function: OfferedTool }[];
}

const MARK = /TURN:([\w-]+)/g;

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: { text?: string }) => part.text ?? JSON.stringify(part)).join('\n');
}

export class ScriptedModel {
  readonly #turns = new Map<string, { turn: Turn; steps: readonly Step[] }>();
  readonly #server = createServer(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(404).end();
    this.#answer((await json(request)) as ChatRequest, response);
  });

  static async start(): Promise<ScriptedModel> {
    const model = new ScriptedModel();
    await new Promise<void>((listening) => model.#server.listen(0, '127.0.0.1', listening));
    return model;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1/chat/completions`;
  }

  /** Prepares a turn. Its id belongs into the user's message, so that the model recognises it. */
  expect(steps: readonly Step[]): { turn: Turn; mark: string } {
    const turn: Turn = { id: `turn-${this.#turns.size + 1}`, readings: [], questions: [], isOver: false };
    this.#turns.set(turn.id, { turn, steps });
    return { turn, mark: `TURN:${turn.id}` };
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer({ model, messages, tools = [] }: ChatRequest, response: ServerResponse): void {
    const texts = messages.map(({ content }) => textOf(content));
    const marked = messages.findLastIndex(({ role }, at) => role === 'user' && texts[at]?.match(MARK));
    const id = [...(texts[marked] ?? '').matchAll(MARK)].at(-1)?.[1] ?? '';
    const known = this.#turns.get(id);
    // The editor also asks for titles and summaries, without tools.
    if (!known || tools.length === 0) {
      write(response, model, 'ok', []);
      return;
    }

    const { turn, steps } = known;
    const lastCall = messages.findLastIndex(({ role }) => role === 'assistant');
    turn.readings.push({
      system: texts.filter((_, at) => messages[at]?.role === 'system').join('\n'),
      tools: tools.map(({ function: tool }) => tool),
      results: texts.filter((_, at) => at > Math.max(marked, lastCall) && messages[at]?.role === 'tool'),
    });
    let calls: ToolCall[] = [];
    try {
      calls = [steps[turn.readings.length - 1]?.(turn.readings.at(-1) as Reading) ?? []].flat();
    } catch (error) {
      turn.failure = error;
    }
    if (calls.length === 0) turn.isOver = true;
    write(response, model, calls.length === 0 ? `END ${id}` : '', calls);
  }
}

function write(response: ServerResponse, model: string, content: string, calls: readonly ToolCall[]): void {
  const base = { id: 'completion', object: 'chat.completion.chunk', created: 1, model };
  const send = (chunk: object) => response.write(`data: ${JSON.stringify({ ...base, ...chunk })}\n\n`);
  const tool_calls = calls.map(({ tool, args }, index) => ({
    index,
    id: `call_${performance.now()}_${index}`.replace('.', '_'),
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(args) },
  }));
  const delta = { role: 'assistant', content, ...(tool_calls.length > 0 && { tool_calls }) };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  send({ choices: [{ index: 0, delta, finish_reason: null }] });
  send({ choices: [{ index: 0, delta: {}, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }] });
  send({ choices: [], usage: { prompt_tokens: 1_000, completion_tokens: 10, total_tokens: 1_010 } });
  response.end('data: [DONE]\n\n');
}
