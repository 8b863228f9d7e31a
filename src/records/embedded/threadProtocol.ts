import type { RecordAnswer, RecordRequest } from '../provider/recordProvider.ts';
import type { EngineStatus } from './engineStatus.ts';
import type { EngineOptions } from './recordEngine.ts';

/** Order to the thread of the records. */
export type Order =
  | { readonly kind: 'get'; readonly request: Pick<RecordRequest, 'path' | 'query'> }
  /** Loads everything that is new, and answers with the state then. */
  | { readonly kind: 'refresh' }
  /** Removes what is not granted, from the disk too, and loads nothing. */
  | { readonly kind: 'purge' }
  | { readonly kind: 'status' }
  | { readonly kind: 'close' };

export interface OrderMessage {
  readonly id: number;
  readonly order: Order;
  /** Values to mask, by owner; present when they changed. */
  readonly secrets?: readonly (readonly [owner: string, values: readonly string[]])[];
}

/** `error` is one sentence that is safe to show. */
export type Reply = { readonly id: number } & (
  | { readonly answer: RecordAnswer }
  | { readonly status: EngineStatus }
  | { readonly closed: true }
  | { readonly error: string }
);

export type ThreadData = EngineOptions;
