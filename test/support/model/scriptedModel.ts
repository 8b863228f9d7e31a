import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { chatForm } from './chatForm.ts';
import { geminiForm } from './geminiForm.ts';
import { messagesForm } from './messagesForm.ts';
import { responsesForm } from './responsesForm.ts';
import type { ModelRequest, OfferedTool, ToolCall, WireForm } from './wireForm.ts';

export type { OfferedTool, ToolCall };

/** Language model on loopback whose answers a test writes, in the wire forms that clients speak. */

const FORMS: readonly WireForm[] = [chatForm, responsesForm, messagesForm, geminiForm];

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

const MARK = /TURN:([\w-]+)/g;

export class ScriptedModel {
  readonly #turns = new Map<string, { turn: Turn; steps: readonly Step[] }>();
  readonly #server = createServer(async (request, response) => {
    const path = new URL(request.url as string, 'http://model').pathname;
    const form = FORMS.find((one) => one.path.test(path));
    if (request.method !== 'POST' || !form) return void response.writeHead(404).end();
    this.#answer(form, form.read(await json(request), path), response);
  });

  static async start(): Promise<ScriptedModel> {
    const model = new ScriptedModel();
    await new Promise<void>((listening) => model.#server.listen(0, '127.0.0.1', listening));
    return model;
  }

  /** Address without a path, below which each form has its own. */
  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
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

  #answer(form: WireForm, request: ModelRequest, response: ServerResponse): void {
    const { messages, tools } = request;
    const marked = messages.findLastIndex(({ role, text }) => role === 'user' && text.match(MARK));
    const id = [...(messages[marked]?.text ?? '').matchAll(MARK)].at(-1)?.[1] ?? '';
    const known = this.#turns.get(id);
    // Clients also ask for titles and summaries, without tools.
    if (!known || tools.length === 0) {
      form.write(response, request, 'ok', []);
      return;
    }

    const { turn, steps } = known;
    const lastCall = messages.findLastIndex(({ role }) => role === 'assistant');
    const results = messages.filter(({ role }, at) => at > Math.max(marked, lastCall) && role === 'tool');
    turn.readings.push({
      system: messages.flatMap(({ role, text }) => (role === 'system' ? [text] : [])).join('\n'),
      tools,
      results: results.map(({ text }) => text),
    });
    let calls: ToolCall[] = [];
    try {
      calls = [steps[turn.readings.length - 1]?.(turn.readings.at(-1) as Reading) ?? []].flat();
    } catch (error) {
      turn.failure = error;
    }
    if (calls.length === 0) turn.isOver = true;
    form.write(response, request, calls.length === 0 ? `END ${id}` : '', calls);
  }
}
