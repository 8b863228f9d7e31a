/** EX_USAGE, EX_DATAERR and EX_NOINPUT. */
const USAGE = 64;
export const UNREADABLE = 65;
export const NO_INPUT = 66;

/** Invalid command line, described in one sentence. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly exitCode: number;

  constructor(message: string, exitCode = USAGE) {
    super(message);
    this.exitCode = exitCode;
  }
}
