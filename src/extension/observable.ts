export interface Disposable {
  dispose(): void;
}

/** Value that notifies its watchers of changes. Independent of `vscode`, so that its users run in unit tests. */
export class Observable<T> {
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
