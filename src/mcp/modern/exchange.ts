import type { RequestId } from '../../link/frames.ts';

/** Open request of a modern client. Frames end with a newline. */
export interface Exchange {
  /** Id of the client. */
  readonly id: RequestId;
  /** Sends a notification that belongs to the request. */
  notify(frame: string | Buffer): void;
  /** Answers the request, once. `code`: that of an error, on which HTTP has a status. */
  answer(frame: string | Buffer, code?: number): void;
}
