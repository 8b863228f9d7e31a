/** The revisions of MCP that the gateway speaks, newest first. The host answers `initialize` by them, without the SDK. */
export const PROTOCOL_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

/** What the client asked for when we know it, else our newest: the client then decides whether to stay. */
export function negotiateVersion(requested: unknown): string {
  return PROTOCOL_VERSIONS.find((version) => version === requested) ?? PROTOCOL_VERSIONS[0];
}

/** The one revision that has batches (MCP 2025-03-26, Transports). */
export const BATCH_VERSION = '2025-03-26';
