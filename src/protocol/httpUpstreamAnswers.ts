import { setTimeout as sleep } from 'node:timers/promises';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { faultResponse } from './frameFault.ts';
import type { RequestId } from './frames.ts';
import { boundedBody } from './httpBody.ts';
import { judgedBody } from './httpFrames.ts';
import { BATCH_VERSION } from './mcpVersions.ts';
import type { Oddities } from './oddities.ts';
import type { OpenRequests } from './openRequests.ts';
import { UnaskedAllowance } from './unaskedAllowance.ts';
import { readUpstreamFrame } from './upstreamFrames.ts';

export interface HttpUpstreamAnswersOptions {
  bodyLimit: number;
  oddities: Oddities;
  open: OpenRequests;
  /** Tells the server what was wrong with something that it asked. */
  reply: (message: JSONRPCMessage) => void;
}

const LONGEST_HOLD_MS = 100;

/** The bodies of a server's answers, as the SDK may read them: within a limit, each frame judged, at a bearable pace. */
export class HttpUpstreamAnswers {
  readonly #options: HttpUpstreamAnswersOptions;
  readonly #unasked = new UnaskedAllowance();
  /** The revision of MCP that was agreed on. */
  version: string | undefined;

  constructor(options: HttpUpstreamAnswersOptions) {
    this.#options = options;
  }

  /** `onEnd` is called when there is no more of the body, unless the rest of it can be asked for. */
  read(response: Response, asked: RequestId | undefined, onEnd: () => void): Response {
    if (!response.body) return response;
    const { status, statusText, headers } = response;
    const type = headers.get('content-type') ?? '';
    const { body, resumable } = boundedBody(response.body, type, this.#options.bodyLimit, () => {
      if (!resumable()) onEnd();
    });
    const judged = judgedBody(
      body,
      type,
      (frame) => this.#judge(frame, asked),
      () => this.#hold(),
    );
    return new Response(judged, { status, statusText, headers });
  }

  /** What is wrong with a frame of an answer fails the call it answers, at once. */
  #judge(frame: Buffer, asked: RequestId | undefined): readonly object[] | undefined {
    const { oddities, open, reply } = this.#options;
    const { messages, replies, isGarbage, isAltered } = readUpstreamFrame(frame, {
      oddities,
      allowsBatches: this.version === BATCH_VERSION,
      isList: (id) => open.isList(id),
    });
    if (messages.every((message) => 'method' in message)) this.#unasked.spend(frame.length, 'message');
    for (const line of replies) reply(JSON.parse(line) as JSONRPCMessage);
    if (isGarbage && asked !== undefined && open.has(asked) && messages.length === 0) {
      return [faultResponse(asked, 'malformed_response', 'an answer that is no message of MCP')];
    }
    return isAltered ? messages : undefined;
  }

  /** One that says too much by itself is read more slowly. */
  #hold(): Promise<void> | undefined {
    const { waitMs } = this.#unasked;
    if (waitMs === 0) return undefined;
    this.#options.oddities.add('throttled');
    return sleep(Math.min(waitMs, LONGEST_HOLD_MS));
  }
}
