import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { faultResponse } from '../../../link/frameFault.ts';
import type { RequestId } from '../../../link/frames.ts';
import { BATCH_VERSION } from '../../mcpVersions.ts';
import type { OpenRequests } from '../../session/openRequests.ts';
import type { Oddities } from '../oddities.ts';
import { UnaskedAllowance } from '../unaskedAllowance.ts';
import { readUpstreamFrame } from '../upstreamFrames.ts';
import { type BodyEnd, boundedBody, watchedBody } from './httpBody.ts';
import { judgedBody } from './httpFrames.ts';

export interface HttpUpstreamAnswersOptions {
  bodyLimit: number;
  oddities: Oddities;
  open: OpenRequests;
  /** Reports to the server that one of its requests was invalid. */
  reply: (message: JSONRPCMessage) => void;
}

const LONGEST_HOLD_MS = 100;
/** Number of streams whose last event is remembered. */
const MAX_STREAMS = 1_024;

/** Prepares the bodies of a server's answers for the SDK: bounds them, judges each frame, and paces them. */
export class HttpUpstreamAnswers {
  readonly #options: HttpUpstreamAnswersOptions;
  readonly #unasked = new UnaskedAllowance();
  /** Whether the server has sent unrequested messages since the last pause. */
  #hasSpoken = false;
  /** Last event of each stream, by its request; undefined for the stream without a request. */
  readonly #lastEvents = new Map<RequestId | undefined, string>();
  /** Requests with an open stream; undefined for the stream without a request. */
  readonly #underWay = new Set<RequestId | undefined>();
  /** Negotiated revision of MCP. */
  version: string | undefined;

  constructor(options: HttpUpstreamAnswersOptions) {
    this.#options = options;
  }

  /** Returns a response for the SDK. Calls `onEnd` at the end of the body, unless the SDK can request the rest. */
  read(response: Response, asked: RequestId | undefined, onEnd: (end: BodyEnd) => void): Response {
    if (!response.body) return response;
    const { status, statusText, headers } = response;
    const type = headers.get('content-type') ?? '';
    const body = boundedBody(response.body, type, this.#options.bodyLimit);
    const isStream = type.toLowerCase().startsWith('text/event-stream');
    // The SDK can resume from a complete event.
    let isResumable = false;
    const judged = judgedBody(
      body,
      type,
      (frame) => this.#judge(frame, asked, !isStream),
      () => this.#hold(),
      (event) => {
        isResumable = true;
        this.#noteEvent(asked, event);
      },
    );
    this.#underWay.add(asked);
    const watched = watchedBody(judged, (end) => {
      this.#underWay.delete(asked);
      const isTooLarge = end !== 'whole' && end !== 'cut';
      if (isTooLarge) this.#options.oddities.add('frame_too_large');
      // An oversized body would not be smaller the second time.
      if (isTooLarge || !isResumable) onEnd(end);
    });
    return new Response(watched, { status, statusText, headers });
  }

  /** Returns the request whose stream ended with an event; `undefined` for the stream of no request. */
  askedWith(event: string): RequestId | undefined {
    const streams = [...this.#lastEvents]
      .filter(([asked, last]) => last === event && !this.#underWay.has(asked))
      .map(([asked]) => asked);
    // Some servers number the events of each stream from the start: prefer a request that still waits.
    const awaited = streams.findLast((asked) => asked !== undefined && this.#options.open.has(asked));
    return awaited !== undefined || streams.includes(undefined) ? awaited : streams.at(-1);
  }

  #noteEvent(asked: RequestId | undefined, event: string): void {
    this.#lastEvents.delete(asked);
    this.#lastEvents.set(asked, event);
    for (const oldest of this.#lastEvents.keys()) {
      if (this.#lastEvents.size <= MAX_STREAMS) break;
      this.#lastEvents.delete(oldest);
    }
  }

  /** Judges a frame. A defect fails the answered call at once. `isWhole`: the frame is all of the body. */
  #judge(frame: Buffer, asked: RequestId | undefined, isWhole: boolean): readonly object[] | undefined {
    const { oddities, open, reply } = this.#options;
    const { messages, replies, isGarbage, isAltered } = readUpstreamFrame(frame, {
      oddities,
      allowsBatches: this.version === BATCH_VERSION,
      isList: (id) => open.isList(id),
    });
    if (messages.every((message) => 'method' in message)) {
      this.#unasked.spend(frame.length, messages.some((message) => 'id' in message) ? 'question' : 'message');
      this.#hasSpoken = true;
    }
    for (const line of replies) reply(JSON.parse(line) as JSONRPCMessage);
    if (isGarbage && asked !== undefined && open.has(asked) && messages.length === 0) {
      return [faultResponse(asked, 'malformed_response', 'an answer that is not a valid MCP message')];
    }
    const isStray = (message: JSONRPCMessage): boolean => 'result' in message && !open.has(message.id);
    if (isWhole && asked !== undefined && open.has(asked) && messages.some(isStray)) {
      oddities.add('unknown_response');
      return [faultResponse(asked, 'malformed_response', 'an answer with an id that is not that of the request')];
    }
    return isAltered ? messages : undefined;
  }

  /**
   * Pauses after each unrequested event, so that other servers have their turn; a server that sends too much pauses
   * longer.
   */
  #hold(): Promise<void> | undefined {
    if (!this.#hasSpoken) return undefined;
    this.#hasSpoken = false;
    const { waitMs } = this.#unasked;
    if (waitMs === 0) return turn();
    this.#options.oddities.add('throttled');
    return sleep(Math.min(waitMs, LONGEST_HOLD_MS));
  }
}
