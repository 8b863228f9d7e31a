export const MODERN = '2026-07-28';
const RESERVED = 'io.modelcontextprotocol/';

/** `_meta` of a request of revision 2026-07-28. */
export function modernMeta(capabilities: object = {}, more: object = {}): Record<string, unknown> {
  return {
    [`${RESERVED}protocolVersion`]: MODERN,
    [`${RESERVED}clientInfo`]: { name: 'modern-client', version: '2.0.0' },
    [`${RESERVED}clientCapabilities`]: capabilities,
    ...more,
  };
}
