import type { ErrorObject } from 'ajv';
import type { Dialect } from './metaSchema.ts';

/** Request to the validation thread. */
export interface CheckRequest {
  id: number;
  /** Identifies the schema, so that the thread finds its compiled validator again. */
  key: string;
  dialect: Dialect;
  /** JSON, because a string copies fast and the thread parses it only before compiling. */
  schema: string;
  value: unknown;
}

export interface CheckReply {
  id: number;
  errors?: ErrorObject[];
  /** Why the thread could not validate the value. */
  failed?: string;
}

/** `ready`: the thread has loaded its modules. `compiled`: from now on only the value takes time. */
export type ThreadMessage = 'ready' | { compiled: number } | CheckReply;
