import type { FileHandle } from 'node:fs/promises';
import { type ArtifactInfo, readAt } from './artifactFile.ts';

/** Open artifact, read in pieces, so that its size does not matter. The caller closes it. */
export interface ArtifactReader {
  readonly info: ArtifactInfo;
  /** Reads bytes. Returns fewer than requested only at the end. */
  read(start: number, length: number): Promise<Buffer>;
  close(): Promise<void>;
}

export class FileReader implements ArtifactReader {
  readonly info: ArtifactInfo;
  readonly #file: FileHandle;

  constructor(info: ArtifactInfo, file: FileHandle) {
    this.info = info;
    this.#file = file;
  }

  read(start: number, length: number): Promise<Buffer> {
    return readAt(this.#file, start, Math.max(0, Math.min(length, this.info.size - start)));
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

export class MemoryReader implements ArtifactReader {
  readonly info: ArtifactInfo;
  readonly #bytes: Buffer;

  constructor(info: ArtifactInfo, bytes: Buffer) {
    this.info = info;
    this.#bytes = bytes;
  }

  async read(start: number, length: number): Promise<Buffer> {
    return this.#bytes.subarray(start, start + length);
  }

  async close(): Promise<void> {}
}
