import type { CallBlocks } from '../config/callBlocks.ts';
import type { ConfigurationProblem } from '../config/gatewayConfig.ts';
import { DispatchConfigError } from '../dispatch/configError.ts';
import { type DispatchConfig, readDispatchConfig } from '../dispatch/dispatchConfig.ts';

/**
 * The blocks about calls as dispatch reads them. The file writes names as VS Code does (`maxAttempts`), dispatch as
 * specification 000 does (`max_attempts`).
 */
export function readCallSettings(blocks: CallBlocks): { settings?: DispatchConfig; problem?: ConfigurationProblem } {
  try {
    return { settings: readDispatchConfig(renamed(blocks.values, snakeCase)) };
  } catch (error) {
    if (!(error instanceof DispatchConfigError)) throw error;
    const path = error.path.map((part) => (typeof part === 'string' ? camelCase(part) : part));
    const message = error.message.replace(SPECIFIED_NAMES, camelCase);
    return { problem: { severity: 'error', message, location: blocks.locate(path) } };
  }
}

/** What stands under these is named by the person: servers and tools. */
const NAMED_BY_THE_PERSON = new Set(['servers', 'tools', 'perTool']);
/** Names of specification 000, and none that a server gave a tool. */
const SPECIFIED_NAMES =
  /\b(?:tolerant_args|policy_preset|rate_limits|schema_limits|per_tool|meta_tool|read_only|ttl_seconds|max_(?:attempts|delay|entries|bytes|depth|properties|branches|refs|calls_per_minute|calls_per_session)|base_delay|retryable_codes)\b/g;

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) =>
      NAMED_BY_THE_PERSON.has(name) && typeof inner === 'object' && inner !== null && !Array.isArray(inner)
        ? [rename(name), Object.fromEntries(Object.entries(inner).map(([own, one]) => [own, renamed(one, rename)]))]
        : [rename(name), renamed(inner, rename)],
    ),
  );
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const camelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
