import type { CallRecord } from '../../control/activityContract.ts';
import { type GatewayLink, sentenceOf } from '../gateway/gatewayLink.ts';
import type { Disposable } from '../observable.ts';
import { type Call, CallList, MAX_CALLS } from './callList.ts';

export type CallSource = Pick<GatewayLink, 'state' | 'request' | 'calls'>;

/** Change of the list: some calls as they are now, or all. */
export type CallChange = readonly Call[] | 'all';

/** Keeps the list of calls up to date with the worker, and over the ends of workers. */
export class CallFeed implements Disposable {
  readonly list: CallList;
  /** Why the worker reports no calls, in a sentence. */
  problem: string | undefined;
  /** Process id of the worker that reports now. */
  #run: number | undefined;
  #attachment: number | undefined;
  readonly #source: CallSource;
  readonly #listeners = new Set<(change: CallChange) => void>();
  readonly #watching: readonly Disposable[];

  constructor(folder: string, source: CallSource) {
    this.list = new CallList(folder);
    this.#source = source;
    this.#watching = [
      source.state.onChange(() => this.#follow()),
      source.calls.onChange((calls) => this.#accept(calls)),
    ];
    this.#follow();
  }

  get run(): number | undefined {
    return this.#run;
  }

  onChange(listener: (change: CallChange) => void): Disposable {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  }

  async clear(): Promise<void> {
    if (this.#run !== undefined) await this.#source.request('clearCalls', {});
    this.list.clear();
    this.#announce('all');
  }

  /** Removes calls, with what the worker keeps of them. */
  async forget(calls: readonly Call[]): Promise<void> {
    const ids = calls.flatMap(({ run, id }) => (run === this.#run ? [id] : []));
    if (ids.length > 0) await this.#source.request('forgetCalls', { ids });
    this.list.clear(calls);
    this.#announce('all');
  }

  dispose(): void {
    for (const part of this.#watching) part.dispose();
  }

  #follow(): void {
    const state = this.#source.state.value;
    if (state.kind === 'attached') {
      if (state.attachment === this.#attachment) return;
      this.#attachment = state.attachment;
      const { pid } = state.snapshot.worker;
      // The same worker may be attached again after the connection was lost.
      if (this.#run !== undefined && this.#run !== pid) this.#lose();
      this.#run = pid;
      void this.#load(state.attachment);
    } else if (state.kind !== 'attaching' && this.#run !== undefined) {
      this.#attachment = undefined;
      this.#run = undefined;
      this.#lose();
    }
  }

  async #load(attachment: number): Promise<void> {
    try {
      const { calls } = await this.#source.request('calls', { limit: MAX_CALLS });
      if (attachment !== this.#attachment) return;
      this.problem = undefined;
      if (this.#run !== undefined) this.list.accept(this.#run, calls, Date.now());
      this.#announce('all');
    } catch (error) {
      if (attachment !== this.#attachment) return;
      this.problem = sentenceOf(error);
      this.#announce('all');
    }
  }

  #accept(records: readonly CallRecord[]): void {
    if (this.#run !== undefined) this.#announce(this.list.accept(this.#run, records, Date.now()));
  }

  #lose(): void {
    this.#announce(this.list.lose(Date.now()));
  }

  #announce(change: CallChange): void {
    if (change.length === 0) return;
    for (const listener of [...this.#listeners]) listener(change);
  }
}
