import type { ConnectionDeclaration, StreamDeclaration } from '../store/declaration.ts';
import type { RecordWriter } from '../store/recordWriter.ts';

/** Place that records are loaded from. */
export interface RecordSource {
  readonly connection: ConnectionDeclaration;
  /** Streams come from files of their own: a stream whose fields change is loaded again without the others. */
  readonly independent?: boolean;
  /** Returns the streams, as far as the source has them now. */
  streams(): readonly StreamDeclaration[] | Promise<readonly StreamDeclaration[]>;
  /** Writes what is new. Yields after each small part, so that requests are answered in between. */
  load(writer: RecordWriter): AsyncGenerator<void> | Generator<void>;
}

/** Records that a source writes before it yields. */
export const PART_ROWS = 200;
