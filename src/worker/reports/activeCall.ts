import type { CallTrace } from '../../calls/pipeline/callTrace.ts';
import type { CallDetails, CallFault, CallRecord } from '../../control/activityContract.ts';
import type { GatewayError } from '../../errors/gatewayError.ts';
import { isRecord } from '../../lib/isRecord.ts';
import type { BegunRecord, EndedCall } from '../../modes/shared/callRecord.ts';
import { maskKnown } from '../../secrets/mask.ts';
import { scrubValue } from '../../secrets/scrubValue.ts';

/** Figures that are counted after the answer. */
export type Figures = Pick<CallRecord, 'tokensIn' | 'tokensOut'> & { handles?: readonly string[] };

/** Call of the activity, from its begin on. Masks and copies only when the user asks for it. */
export class ActiveCall {
  readonly trace: CallTrace;
  args: unknown;
  stderr: readonly string[] = [];
  dropped: CallDetails['dropped'];
  /** Size of what is kept of it, about. */
  bytes = 0;
  readonly #begun: BegunRecord;
  #done: Omit<CallRecord, 'id'> | undefined;
  #answer: readonly string[] | undefined;
  #error: Pick<GatewayError, 'code' | 'message' | 'details'> | undefined;

  constructor(trace: CallTrace, begun: BegunRecord) {
    this.trace = trace;
    this.#begun = begun;
  }

  get id(): number {
    return this.trace.id;
  }

  /** The call as it is at this moment. */
  get record(): CallRecord {
    const { id, at, tool, durationMs, isWaiting, attempts } = this.trace;
    const found = tool && { server: tool.server, toolId: tool.id };
    if (this.#done) return { ...found, ...this.#done, id };
    const phase = isWaiting ? 'waiting' : 'running';
    const running = { id, at, phase, durationMs, attempts: attempts.length, effect: 'none', handles: [] } as const;
    return { ...this.#begun, ...found, ...running };
  }

  /** Notes the end. Keeps no reference to the original error, which may hold a whole answer of the server. */
  finish(record: Omit<CallRecord, 'id'>, { answer, error }: Omit<EndedCall, 'trace'>): void {
    const { metaTool, subject } = this.#begun;
    this.#done = { ...record, metaTool, subject };
    this.#answer = textsOf(answer);
    if (error) this.#error = { code: error.code, message: error.message, details: error.details };
  }

  add(figures: Figures): void {
    if (this.#done) this.#done = { ...this.#done, ...figures };
  }

  /** Everything whose size the user has no other hold on. */
  get content(): readonly unknown[] {
    return [this.args, this.#answer, this.#error, this.stderr];
  }

  drop(why: CallDetails['dropped']): void {
    this.dropped = why;
    this.args = undefined;
    this.#answer = undefined;
    this.bytes = 0;
  }

  details(): CallDetails {
    const { repairs, stages, attempts } = this.trace;
    const problems = this.#error?.details?.problems;
    return {
      record: this.record,
      ...(this.args !== undefined && { arguments: scrubValue(this.args) }),
      ...(this.#answer && { answer: maskKnown(this.#answer.join('')) }),
      ...(this.dropped !== undefined && { dropped: this.dropped }),
      repairs: repairs.map(({ path, rule }) => ({ path, rule })),
      problems: Array.isArray(problems) ? problems.filter((one) => typeof one === 'string') : [],
      attempts: [...attempts],
      stages: [...stages],
      ...(this.#error && { fault: this.#faultOf(this.#error) }),
    };
  }

  #faultOf({ code, message, details = {} }: Pick<GatewayError, 'code' | 'message' | 'details'>): CallFault {
    const tries = this.record.attempts;
    const handled = [
      ...(tries > 1 ? [`Sent the call ${tries} times.`] : []),
      ...(details.outcome === 'not_dispatched' ? ['Sent nothing to the server.'] : []),
      ...(details.outcome === 'unknown' ? ['Did not repeat the call, because it may have taken effect.'] : []),
    ];
    return {
      code,
      message,
      ...(typeof details.allow === 'string' && { advice: details.allow }),
      details: scrubValue(details) as Record<string, unknown>,
      handled,
      stderr: this.stderr,
    };
  }
}

/** Returns the texts of an answer. Pictures and sounds are kept as results. */
function textsOf(answer: object | undefined): readonly string[] | undefined {
  const content = answer && 'content' in answer && Array.isArray(answer.content) ? (answer.content as unknown[]) : [];
  const texts = content.flatMap((part) => (isRecord(part) && typeof part.text === 'string' ? [part.text] : []));
  return texts.length > 0 ? texts : undefined;
}

/** Bytes of an object or a number beside its texts, about. */
const NODE_BYTES = 16;

/** Estimates the memory of a JSON value, and stops beyond the limit. Characters count twice, as most engines keep them. */
export function roughBytes(value: unknown, limit: number): number {
  const open: unknown[] = [value];
  let bytes = 0;
  while (open.length > 0 && bytes <= limit) {
    const next = open.pop();
    bytes += NODE_BYTES;
    if (typeof next === 'string') bytes += 2 * next.length;
    else if (Array.isArray(next)) {
      bytes += NODE_BYTES * next.length;
      if (bytes <= limit) for (const item of next) open.push(item);
    } else if (isRecord(next)) {
      for (const key in next) {
        bytes += 2 * key.length;
        open.push(next[key]);
        if (bytes > limit) break;
      }
    }
  }
  return bytes;
}
