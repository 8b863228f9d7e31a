import { encodeMessage, LOST_NOTIFICATION } from '../../link/frames.ts';
import { type LostCall, MAX_LOST_CALLS } from '../../replay/lostCall.ts';
import { shortened } from '../../text/porcelain.ts';

/** No name that is known anywhere is longer: a client may call anything a tool, and all losses together are one frame. */
const MAX_NAME_CHARS = 256;

/** What the host has answered in place of a worker, until there is one to count it. */
export class HeldLosses {
  #calls: LostCall[] = [];

  note(call: LostCall): void {
    if (this.#calls.length >= MAX_LOST_CALLS) return;
    const { method, tool, toolId } = call;
    this.#calls.push({ ...call, method: named(method), tool: tool && named(tool), toolId: toolId && named(toolId) });
  }

  /** Told once. */
  frames(): string[] {
    const calls = this.#calls;
    this.#calls = [];
    return calls.length === 0 ? [] : [encodeMessage({ method: LOST_NOTIFICATION, params: { calls } })];
  }
}

/** A copy: the part of a text keeps the whole of it in memory. */
function named(name: string): string {
  return name.length <= MAX_NAME_CHARS ? name : Buffer.from(shortened(name, MAX_NAME_CHARS)).toString();
}
