/** Limit of remembered links per server, so that no server displaces the links of another one. */
const MAX_LINKS = 5_000;
/** Limit of parts per result. */
const MAX_PARTS = 1_000;
const MAX_URI = 2_048;

/** Addresses in results. They need not be listed (MCP), and count only for the server that sent them (G10.9). */
export class ResultLinks {
  /** Addresses by server, the latest last. */
  readonly #links = new Map<string, Set<string>>();

  /** Remembers the addresses that a server's result links to or embeds. */
  note(server: string, result: Readonly<Record<string, unknown>>): void {
    if (!Array.isArray(result.content)) return;
    for (const part of result.content.slice(0, MAX_PARTS)) {
      const { type, uri, resource } = (part ?? {}) as { type?: unknown; uri?: unknown; resource?: { uri?: unknown } };
      const address = type === 'resource_link' ? uri : type === 'resource' ? resource?.uri : undefined;
      if (typeof address === 'string' && address.length <= MAX_URI) this.#remember(address, server);
    }
  }

  serversOf(uri: string): string[] {
    return [...this.#links].filter(([, uris]) => uris.has(uri)).map(([server]) => server);
  }

  #remember(uri: string, server: string): void {
    const uris = this.#links.get(server) ?? new Set();
    this.#links.set(server, uris);
    // Reinsert, so that recent addresses stay longest.
    uris.delete(uri);
    uris.add(uri);
    const [oldest] = uris;
    if (uris.size > MAX_LINKS && oldest !== undefined) uris.delete(oldest);
  }
}
