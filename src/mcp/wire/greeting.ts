import { isRecord } from '../../lib/isRecord.ts';
import { PROTOCOL_VERSIONS } from '../mcpVersions.ts';

/** Revisions of servers. The first release of MCP, which a gateway need not offer to clients, is one of them. */
export const SERVER_VERSIONS: readonly string[] = [...PROTOCOL_VERSIONS, '2024-10-07'];
/** Members of `capabilities` that MCP defines for servers. */
const CAPABILITIES = ['experimental', 'logging', 'completions', 'prompts', 'resources', 'tools', 'tasks'];

type Fields = Readonly<Record<string, unknown>>;

/** Facts that a server states about itself in its answer to `initialize`. */
export interface Greeting {
  capabilities: Fields;
  implementation: { name: string; version: string } | undefined;
  instructions: string | undefined;
}

/** Reads an answer to `initialize`; returns the member that is wrong in one that is not of MCP's form. */
export function readGreeting(answer: Fields): Greeting | { wrong: string } {
  const { protocolVersion, capabilities, serverInfo, instructions } = answer;
  if (!SERVER_VERSIONS.includes(String(protocolVersion))) return { wrong: 'protocolVersion' };
  if (!isRecord(capabilities)) return { wrong: 'capabilities' };
  const odd = CAPABILITIES.find((name) => capabilities[name] !== undefined && !isRecord(capabilities[name]));
  if (odd !== undefined) return { wrong: `capabilities.${odd}` };
  const { name, version } = isRecord(serverInfo) ? serverInfo : {};
  if (typeof name !== 'string' || typeof version !== 'string') return { wrong: 'serverInfo' };
  return {
    capabilities,
    implementation: name === '' && version === '' ? undefined : { name, version },
    instructions: typeof instructions === 'string' ? instructions : undefined,
  };
}
