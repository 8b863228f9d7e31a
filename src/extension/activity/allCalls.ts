import type { CallKey } from '../documents/addresses.ts';
import type { FolderGateway } from '../folders/folderGateway.ts';
import type { Disposable, Watchable } from '../observable.ts';
import type { CallChange } from './callFeed.ts';
import { type Call, newestFirst } from './callList.ts';

type Gateways = Watchable<readonly Pick<FolderGateway, 'calls'>[]>;

/** Calls through the gateways of all folders. */
export class AllCalls implements Disposable {
  readonly #gateways: Gateways;
  readonly #listeners = new Set<(change: CallChange) => void>();
  #watching: Disposable[] = [];
  readonly #list: Disposable;

  constructor(gateways: Gateways) {
    this.#gateways = gateways;
    this.#follow();
    this.#list = gateways.onChange(() => {
      this.#follow();
      this.#announce('all');
    });
  }

  /** Calls, newest first. */
  get calls(): readonly Call[] {
    return this.#gateways.value.flatMap(({ calls }) => calls.list.calls).sort(newestFirst);
  }

  /** Why calls are not reported, one sentence for each reason. */
  get problem(): string | undefined {
    const problems = this.#gateways.value.flatMap(({ calls }) => calls.problem ?? []);
    return problems.length === 0 ? undefined : [...new Set(problems)].join(' ');
  }

  find(key: CallKey): Call | undefined {
    for (const { calls } of this.#gateways.value) {
      const call = calls.list.find(key);
      if (call) return call;
    }
    return undefined;
  }

  async clear(): Promise<void> {
    await Promise.all(this.#gateways.value.map(({ calls }) => calls.clear()));
  }

  /** Removes calls, with what the workers keep of them. */
  async forget(calls: readonly Call[]): Promise<void> {
    await Promise.all(
      this.#gateways.value.map((gateway) =>
        gateway.calls.forget(calls.filter((call) => gateway.calls.list.find(call))),
      ),
    );
  }

  onChange(listener: (change: CallChange) => void): Disposable {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  }

  dispose(): void {
    this.#list.dispose();
    for (const one of this.#watching) one.dispose();
  }

  #follow(): void {
    for (const one of this.#watching) one.dispose();
    this.#watching = this.#gateways.value.map(({ calls }) => calls.onChange((change) => this.#announce(change)));
  }

  #announce(change: CallChange): void {
    for (const listener of [...this.#listeners]) listener(change);
  }
}
