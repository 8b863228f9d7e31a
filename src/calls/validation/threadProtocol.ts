import type { ErrorObject } from 'ajv';
import type { Dialect } from './metaSchema.ts';

/** What goes to the validation thread and comes back. */
export interface CheckRequest {
  id: number;
  /** Names the schema: a compiled one is found again by it. */
  key: string;
  dialect: Dialect;
  /** As JSON: a text is copied at once, and parsed only where it is not compiled yet. */
  schema: string;
  value: unknown;
}

export interface CheckReply {
  id: number;
  errors?: ErrorObject[];
  /** Why the value could not be judged. */
  failed?: string;
}

/** `ready`: the thread has loaded what it needs. `compiled`: what takes time from now on is the value. */
export type ThreadMessage = 'ready' | { compiled: number } | CheckReply;
