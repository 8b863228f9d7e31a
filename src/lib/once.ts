/** Returns a function that makes a value at its first call. For tables that a start does not need. */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/**
 * Returns a function that makes a value when it is called, and again after V8 has collected it. For large tables that
 * are needed seldom.
 */
export function weakOnce<T extends object>(make: () => T): () => T {
  let made: WeakRef<T> | undefined;
  return () => {
    const value = made?.deref() ?? make();
    if (made?.deref() !== value) made = new WeakRef(value);
    return value;
  };
}
