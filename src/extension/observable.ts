export interface Disposable {
  dispose(): void;
}

/** Value that its users only read. */
export interface Watchable<T> {
  readonly value: T;
  onChange(listener: (value: T) => void): Disposable;
}

/** Value that notifies its watchers of changes. Independent of `vscode`, so that its users run in unit tests. */
export class Observable<T> implements Watchable<T> {
  #value: T;
  readonly #same: (a: T, b: T) => boolean;
  readonly #listeners = new Set<(value: T) => void>();

  constructor(initial: T, same: (a: T, b: T) => boolean = Object.is) {
    this.#value = initial;
    this.#same = same;
  }

  get value(): T {
    return this.#value;
  }

  set(value: T): void {
    if (this.#same(this.#value, value)) return;
    this.#value = value;
    for (const listener of [...this.#listeners]) listener(value);
  }

  onChange(listener: (value: T) => void): Disposable {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  }
}

/** Calls the listener when the list changes, and when a value that its items have at that moment changes. */
export function onChangeOfAny<T>(
  items: Watchable<readonly T[]>,
  observe: (item: T) => Watchable<unknown>,
  listener: () => void,
): Disposable {
  const follow = (all: readonly T[]): Disposable[] => all.map((item) => observe(item).onChange(() => listener()));
  let watching = follow(items.value);
  const end = (): void => {
    for (const one of watching) one.dispose();
  };
  const list = items.onChange((all) => {
    end();
    watching = follow(all);
    listener();
  });
  return {
    dispose: () => {
      list.dispose();
      end();
    },
  };
}
