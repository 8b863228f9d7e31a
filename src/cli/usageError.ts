/** EX_USAGE and EX_NOINPUT. */
const USAGE = 64;
export const NO_INPUT = 66;

/** A command line that cannot be followed, told in one sentence. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly exitCode: number;

  constructor(message: string, exitCode = USAGE) {
    super(message);
    this.exitCode = exitCode;
  }
}
