import { DispatchConfigError } from '../../calls/settings/configError.ts';
import { DISPATCH_DEFAULTS, type DispatchConfig, readDispatchConfig } from '../../calls/settings/dispatchConfig.ts';
import { type DispatchLayer, type IneffectiveRules, layerSettings } from '../../calls/settings/layeredConfig.ts';
import { CALL_KEYS, type CallBlocks } from '../../config/callBlocks.ts';
import type { CallLayer, MergedConfig } from '../../config/configLayers.ts';
import type { ConfigOrigin, ConfigurationProblem } from '../../config/gatewayConfig.ts';
import type { KeptText, KeptTexts } from '../../config/state/keptTexts.ts';

/**
 * Reads the blocks about calls. The file writes names as VS Code does (`maxAttempts`), the reader in snake case
 * (`max_attempts`).
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

/** The field of dispatch that a block of the file fills. */
const FIELDS: Readonly<Record<(typeof CALL_KEYS)[number], readonly (keyof DispatchConfig)[]>> = {
  tolerantArgs: ['tolerantArgs'],
  policyPreset: ['policy', 'retry', 'rateLimits', 'cache'],
  policy: ['policy'],
  retry: ['retry'],
  rateLimits: ['rateLimits'],
  cache: ['cache'],
  schemaLimits: ['schemaLimits'],
  timeouts: ['deadlines'],
  replay: ['contracts'],
};

const NOTHING_SAID: DispatchLayer = { settings: DISPATCH_DEFAULTS, said: new Set() };

/** The settings of all files together. A file whose blocks are wrong leaves its own last good ones in force. */
export class CallSettings {
  readonly #good = new Map<ConfigOrigin, DispatchLayer & { text?: string | undefined }>();
  /** The files whose blocks are wrong, by the text that their last good ones are from. */
  #kept: KeptTexts = {};

  get kept(): KeptTexts {
    return this.#kept;
  }

  /** What counts of every file, by the text that it is from. */
  inForce(calls: MergedConfig['calls']): KeptTexts {
    return Object.fromEntries(
      calls.flatMap(({ origin, file }) => {
        const text = this.#good.get(origin)?.text;
        return file === undefined || text === undefined ? [] : [[file, { calls: text }] as const];
      }),
    );
  }

  read({ calls, servers }: Pick<MergedConfig, 'calls' | 'servers'>): {
    settings: DispatchConfig;
    problems: ConfigurationProblem[];
  } {
    const problems: ConfigurationProblem[] = [];
    const wrong: [string, KeptText][] = [];
    for (const { origin, file, blocks, text, kept } of calls) {
      const { settings, problem } = readCallSettings(blocks);
      if (settings) this.#good.set(origin, { settings, said: saidBy(blocks), text });
      else if (kept && !this.#good.has(origin)) this.#keep(origin, kept);
      if (!problem) continue;
      problems.push(problem);
      if (file !== undefined) wrong.push([file, { calls: this.#good.get(origin)?.text ?? null }]);
    }
    this.#kept = Object.fromEntries(wrong);
    const layerOf = (origin: ConfigOrigin): DispatchLayer => this.#good.get(origin) ?? NOTHING_SAID;
    if (calls.some(({ origin }) => origin === 'given')) return { settings: layerOf('given').settings, problems };
    const own = servers.filter(({ origin }) => origin === 'user').map(({ name }) => name);
    const { settings, ineffective } = layerSettings(layerOf('user'), layerOf('workspace'), own);
    const blocks = calls.find(({ origin }) => origin === 'workspace')?.blocks;
    if (ineffective && blocks) problems.push(...ineffectiveRules(ineffective, blocks));
    return { settings, problems };
  }

  #keep(origin: ConfigOrigin, { blocks, text }: NonNullable<CallLayer['kept']>): void {
    const { settings } = readCallSettings(blocks);
    if (settings) this.#good.set(origin, { settings, said: saidBy(blocks), text });
  }
}

function saidBy({ values }: CallBlocks): Set<keyof DispatchConfig> {
  return new Set(CALL_KEYS.filter((key) => key in values).flatMap((key) => FIELDS[key]));
}

/** Told, or a person would look in vain for why a rule does nothing. */
function ineffectiveRules({ rules, floor }: IneffectiveRules, blocks: CallBlocks): ConfigurationProblem[] {
  return rules.map((index) => ({
    severity: 'warning',
    message: `This rule does not count: the user level's default is "${floor}", and a workspace cannot loosen it.`,
    location: blocks.locate(['policy', 'rules', index]),
  }));
}

/** What stands under these is named by the person: servers and tools. */
const NAMED_BY_THE_PERSON = new Set(['servers', 'tools', 'perTool', 'probes']);
/** What stands under these is a tool's own. */
const NOT_OURS = new Set(['arguments']);
/** Names of settings in snake case, and none that a server gave a tool. */
const SPECIFIED_NAMES =
  /\b(?:tolerant_args|policy_preset|trust_hints|rate_limits|schema_limits|per_tool|meta_tool|read_only|ttl_seconds|max_(?:attempts|delay|entries|bytes|depth|properties|branches|refs|calls_per_minute|calls_per_session)|base_delay|retryable_codes)\b/g;

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      if (NOT_OURS.has(name)) return [name, inner];
      return NAMED_BY_THE_PERSON.has(name) && typeof inner === 'object' && inner !== null && !Array.isArray(inner)
        ? [rename(name), Object.fromEntries(Object.entries(inner).map(([own, one]) => [own, renamed(one, rename)]))]
        : [rename(name), renamed(inner, rename)];
    }),
  );
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const camelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
