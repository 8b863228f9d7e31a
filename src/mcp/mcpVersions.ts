/**
 * Revisions of MCP that the gateway speaks, newest first (M4.1). The host answers `initialize` with them, without the
 * SDK.
 */
export const PROTOCOL_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

/** Returns the requested revision if it is known, else the newest: the client then decides whether to stay. */
export function negotiateVersion(requested: unknown): string {
  return PROTOCOL_VERSIONS.find((version) => version === requested) ?? PROTOCOL_VERSIONS[0];
}

/** Revision with batches (MCP 2025-03-26, Transports). */
export const BATCH_VERSION = '2025-03-26';
