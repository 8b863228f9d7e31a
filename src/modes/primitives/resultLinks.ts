/**
 * Limit of remembered links. Links in results need not be listed (MCP), so the server that named an address last gets
 * the request.
 */
const MAX_LINKS = 5_000;
/** Limit of parts per result. */
const MAX_PARTS = 1_000;
const MAX_URI = 2_048;

export class ResultLinks {
  readonly #servers = new Map<string, string>();

  /** Remembers the addresses that a server's result links to or embeds. */
  note(server: string, result: Readonly<Record<string, unknown>>): void {
    if (!Array.isArray(result.content)) return;
    for (const part of result.content.slice(0, MAX_PARTS)) {
      const { type, uri, resource } = (part ?? {}) as { type?: unknown; uri?: unknown; resource?: { uri?: unknown } };
      const address = type === 'resource_link' ? uri : type === 'resource' ? resource?.uri : undefined;
      if (typeof address === 'string' && address.length <= MAX_URI) this.#remember(address, server);
    }
  }

  serverOf(uri: string): string | undefined {
    return this.#servers.get(uri);
  }

  #remember(uri: string, server: string): void {
    // Reinsert, so that recent addresses stay longest.
    this.#servers.delete(uri);
    this.#servers.set(uri, server);
    for (const oldest of this.#servers.keys()) {
      if (this.#servers.size <= MAX_LINKS) break;
      this.#servers.delete(oldest);
    }
  }
}
