import { createHash } from 'node:crypto';

export interface Artifact {
  handle: string;
  bytes: Buffer;
  mediaType: string;
  label: string;
}

/** Enough for the results of a long conversation; the oldest leave first. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Results that did not fit into an answer, by handle. Handles are content-addressed: two calls never share bytes. */
export class ArtifactStore {
  readonly #artifacts = new Map<string, Artifact>();
  readonly #limit: number;
  #bytes = 0;

  constructor(limit = MAX_BYTES) {
    this.#limit = limit;
  }

  put(kind: string, source: string, content: { bytes: Buffer; mediaType: string; label: string }): Artifact {
    const digest = createHash('sha256').update(content.bytes).digest('hex').slice(0, 16);
    const artifact = { handle: `${kind}:${source}:${digest}`, ...content };
    this.#remove(artifact.handle);
    this.#artifacts.set(artifact.handle, artifact);
    this.#bytes += artifact.bytes.length;
    for (const oldest of this.#artifacts.keys()) {
      if (this.#bytes <= this.#limit || oldest === artifact.handle) break;
      this.#remove(oldest);
    }
    return artifact;
  }

  get(handle: string): Artifact | undefined {
    return this.#artifacts.get(handle);
  }

  #remove(handle: string): void {
    const artifact = this.#artifacts.get(handle);
    if (!artifact) return;
    this.#artifacts.delete(handle);
    this.#bytes -= artifact.bytes.length;
  }
}
