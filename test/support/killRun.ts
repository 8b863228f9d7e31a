import { toldBy } from './faultGateway.ts';
import type { HistoryEvent, Invocation } from './historyChecker.ts';
import type { HostProcess, RpcMessage } from './hostProcess.ts';

/** A client that writes down what it asks and what it is told, in the order in which that happens. */
export class Recorder {
  readonly history: HistoryEvent[] = [];
  readonly #host: HostProcess;
  #calls = 0;

  constructor(host: HostProcess) {
    this.#host = host;
    host.onMessage((message) => this.#onMessage(message));
  }

  /** Calls a tool of the server with a nonce of its own; resolves when it is answered. */
  async act(server: string, contract: Invocation['contract']): Promise<void> {
    this.#calls += 1;
    const id = `call-${this.#calls}`;
    const nonce = `${server}-${this.#calls}`;
    this.history.push({ event: 'invoke', id, nonce, contract });
    await this.#host.request('tools/call', execute(server, nonce), id);
  }

  /** Calls and takes it back at once or soon: there must be no answer afterwards. */
  actAndCancel(server: string, afterMs: number): void {
    this.#calls += 1;
    const id = `call-${this.#calls}`;
    const nonce = `${server}-${this.#calls}`;
    this.history.push({ event: 'invoke', id, nonce, contract: 'never_replay' });
    void this.#host.request('tools/call', execute(server, nonce), id);
    setTimeout(() => {
      this.#host.notify('notifications/cancelled', { requestId: id });
      // An answer may be on its way already: what the host has written before it read this comes before its next word.
      void this.#host.request('ping', {}).then(() => this.history.push({ event: 'cancel', id }));
    }, afterMs);
  }

  get calls(): number {
    return this.#calls;
  }

  /** How many calls ended in which way. */
  get tally(): Record<string, number> {
    const tally: Record<string, number> = {};
    for (const event of this.history) if (event.event === 'reply') tally[event.told] = (tally[event.told] ?? 0) + 1;
    return tally;
  }

  #onMessage({ id, result, error }: RpcMessage): void {
    if (typeof id !== 'string' || !id.startsWith('call-')) return;
    const content = (result?.content ?? []) as { text?: string }[];
    const text = error ? error.message : content.map((part) => part.text ?? '').join('');
    const told = toldBy({
      text,
      isError: error !== undefined || result?.isError === true,
      content: [],
      structured: undefined,
    });
    this.history.push({ event: 'reply', id, told, nonce: told === 'ok' ? text.split('\n')[1] : undefined });
  }
}

function execute(server: string, nonce: string): object {
  return { name: 'tool_execute', arguments: { tool_id: `${server}:act`, args: { nonce } } };
}
