import { outcomeOf } from './faultGateway.ts';
import type { HistoryEvent, Invocation } from './historyChecker.ts';
import type { HostProcess, RpcMessage } from './hostProcess.ts';

/** Client that records its requests and the answers, in order. */
export class Recorder {
  readonly history: HistoryEvent[] = [];
  readonly #host: HostProcess;
  #calls = 0;

  constructor(host: HostProcess) {
    this.#host = host;
    host.onMessage((message) => this.#onMessage(message));
  }

  /** Calls a tool of the server with a new nonce; resolves with the answer. */
  async act(server: string, contract: Invocation['contract']): Promise<void> {
    this.#calls += 1;
    const id = `call-${this.#calls}`;
    const nonce = `${server}-${this.#calls}`;
    this.history.push({ event: 'invoke', id, nonce, contract });
    await this.#host.request('tools/call', execute(server, nonce), id);
  }

  /** Calls a tool and cancels the call at once or soon: no answer may follow. */
  actAndCancel(server: string, afterMs: number): void {
    this.#calls += 1;
    const id = `call-${this.#calls}`;
    const nonce = `${server}-${this.#calls}`;
    this.history.push({ event: 'invoke', id, nonce, contract: 'never_replay' });
    void this.#host.request('tools/call', execute(server, nonce), id);
    setTimeout(() => {
      this.#host.notify('notifications/cancelled', { requestId: id });
      // An answer may be under way already; the host's next message marks the end of it.
      void this.#host.request('ping', {}).then(() => this.history.push({ event: 'cancel', id }));
    }, afterMs);
  }

  get calls(): number {
    return this.#calls;
  }

  /** Number of calls by outcome. */
  get tally(): Record<string, number> {
    const tally: Record<string, number> = {};
    for (const event of this.history)
      if (event.event === 'reply') tally[event.outcome] = (tally[event.outcome] ?? 0) + 1;
    return tally;
  }

  #onMessage({ id, result, error }: RpcMessage): void {
    if (typeof id !== 'string' || !id.startsWith('call-')) return;
    const content = (result?.content ?? []) as { text?: string }[];
    const text = error ? error.message : content.map((part) => part.text ?? '').join('');
    const outcome = outcomeOf({
      text,
      isError: error !== undefined || result?.isError === true,
      content: [],
      structured: undefined,
    });
    this.history.push({ event: 'reply', id, outcome, nonce: outcome === 'ok' ? text.split('\n')[1] : undefined });
  }
}

function execute(server: string, nonce: string): object {
  return { name: 'tool_execute', arguments: { tool_id: `${server}:act`, args: { nonce } } };
}
