import type { JsonPath } from '../json.ts';

/** A block of the configuration that cannot be used: one sentence, and the place in that block. */
export class DispatchConfigError extends Error {
  override readonly name = 'DispatchConfigError';
  readonly path: JsonPath;

  constructor(message: string, path: JsonPath) {
    super(message);
    this.path = path;
  }
}
