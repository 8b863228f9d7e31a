import type { CallDiagnostics } from '../../calls/pipeline/callPipeline.ts';
import { canonicalJson } from '../../catalog/canonicalJson.ts';
import type { ChoiceCard } from '../../catalog/cards/card.ts';
import { cardToJson } from '../../catalog/cards/cardText.ts';
import { isToolId } from '../../catalog/toolId.ts';
import type { CatalogTool } from '../../catalog/types.ts';
import type { Fault } from '../../errors/fault.ts';
import type { GatewayError } from '../../errors/gatewayError.ts';
import type { AdmittedResult } from '../../results/firewall.ts';
import { SELECTOR_TYPES } from '../../results/select/selectors.ts';
import type { RequestEnd } from '../../telemetry/telemetryForms.ts';
import type { TokenMeter } from './catalog/tokenMeter.ts';

/** What one call was, for telemetry and the event log: counts and names, never a value that somebody gave. */
export interface CallEvent {
  event: string;
  success: boolean;
  toolId: string | null;
  namespace: string | null;
  /** Of the gateway's own tools, or that it was none of them. */
  method: string;
  end: RequestEnd;
  retries: number;
  /** The call went to a server, whatever became of it. */
  dispatched: boolean;
  error?: { code: string; message: string };
  /** What the error was made of. */
  fault?: Fault | undefined;
  /** Counts tokens: made when it is written, not while somebody waits for an answer. */
  attributes(meter: TokenMeter): Record<string, unknown>;
}

/** What an answer tells of itself beside what a model reads. */
export type AnswerTold =
  | {
      kind: 'browse';
      method: 'tool_browse' | 'resource_browse' | 'prompt_browse';
      cards: readonly ChoiceCard[];
      tools: ReadonlyMap<string, CatalogTool>;
    }
  | { kind: 'hydrate'; tool: CatalogTool }
  | { kind: 'view'; shown: string }
  | { kind: 'execute'; tool: CatalogTool; diagnostics: CallDiagnostics; result: AdmittedResult; shown: string }
  | { kind: 'dry_run'; tool: CatalogTool }
  /** A resource or a prompt, as rules know it; none for an address that nobody lists: somebody gave it. */
  | { kind: 'read'; method: 'resource_read' | 'prompt_get'; tool: CatalogTool | undefined; result: AdmittedResult };

type Args = Readonly<Record<string, unknown>>;

const SCHEMA_PREFIX = 'schema:';
/** Made by the firewall: kind, tool and digest. Anything else was made up by whoever asked. */
const HANDLE = /^[a-z_]{1,20}:.{1,200}:[0-9a-f]{16}$/;
/** Stands for what a caller has made up. */
export const UNKNOWN = '(unknown)';

export function answeredEvent(given: unknown, told: AnswerTold): CallEvent {
  const args = objectOf(given);
  switch (told.kind) {
    case 'browse':
      return done(told.method, 'browse.completed', null, (meter) => browseAttributes(args, told, meter));
    case 'hydrate':
      return done('tool_view', 'hydrate.completed', told.tool, (meter) => ({
        schema_tokens: meter.schema(told.tool.inputSchema),
      }));
    case 'view':
      return done('tool_view', 'view.completed', null, (meter) => ({
        ...viewed(args),
        result_chars: told.shown.length,
        result_tokens: meter.count(told.shown),
      }));
    case 'dry_run':
      return done('tool_execute', 'execute.dry_run', told.tool, () => ({
        arg_keys: argumentNames(args, told.tool),
        dispatched: false,
      }));
    case 'execute':
      return executed(args, told);
    case 'read':
      return read(told);
  }
}

export function failedEvent(
  name: string,
  given: unknown,
  error: GatewayError,
  toolOf: (toolId: string) => CatalogTool | undefined,
): CallEvent {
  const args = objectOf(given);
  const failure = {
    success: false,
    toolId: null,
    namespace: null,
    end: endOf(error),
    retries: Math.max(0, Number(error.details?.attempts ?? 1) - 1),
    dispatched: false,
    error: { code: error.code, message: error.message },
    fault: error.fault,
  };
  const handle = typeof args.handle === 'string' ? args.handle : '';
  switch (name) {
    case 'tool_browse':
    case 'resource_browse':
    case 'prompt_browse':
      return {
        ...failure,
        event: 'browse.failed',
        method: name,
        attributes: () => ({ error_code: error.code, ...asked(args) }),
      };
    case 'resource_read':
    case 'prompt_get':
      return {
        ...failure,
        event: 'read.failed',
        method: name,
        dispatched: error.code.startsWith('UPSTREAM_') && error.details?.outcome !== 'not_dispatched',
        attributes: () => ({ error_code: error.code }),
      };
    case 'tool_view': {
      if (!handle.startsWith(SCHEMA_PREFIX)) {
        const attributes = () => ({ ...viewed(args), error_code: error.code });
        return { ...failure, event: 'view.failed', method: name, attributes };
      }
      const toolId = handle.slice(SCHEMA_PREFIX.length);
      const tool = toolOf(toolId);
      return {
        ...failure,
        event: 'hydrate.failed',
        method: name,
        toolId: namedTool(toolId),
        namespace: tool?.namespace ?? null,
        // The client asked for a handle that could not be viewed; the event is a hydration (G5.9).
        attributes: () => ({ error_code: error.code === 'VIEW_FAILED' ? 'HYDRATE_FAILED' : error.code }),
      };
    }
    case 'tool_execute': {
      // An id that was put right is the tool that the error is about.
      const toolId = error.path !== '' ? error.path : String(args.tool_id ?? '');
      const tool = toolOf(toolId);
      return {
        ...failure,
        event: 'execute.failed',
        method: name,
        toolId: namedTool(toolId),
        namespace: tool?.namespace ?? null,
        dispatched: error.code.startsWith('UPSTREAM_') && error.details?.outcome !== 'not_dispatched',
        attributes: () => ({ error_code: error.code, arg_keys: argumentNames(args, tool) }),
      };
    }
    default:
      return { ...failure, event: 'call.failed', method: UNKNOWN, attributes: () => ({ error_code: error.code }) };
  }
}

function done(method: string, event: string, tool: CatalogTool | null, attributes: CallEvent['attributes']): CallEvent {
  return {
    event,
    success: true,
    toolId: tool?.id ?? null,
    namespace: tool?.namespace ?? null,
    method,
    end: 'ok',
    retries: 0,
    dispatched: false,
    attributes,
  };
}

type Executed = Extract<AnswerTold, { kind: 'execute' }>;

function executed(args: Args, { tool, diagnostics, result, shown }: Executed): CallEvent {
  const { attempts, cacheHit, shared } = diagnostics;
  const { isError, told } = result;
  const status = isError ? 'error' : told.partial ? 'partial' : 'ok';
  const base = done('tool_execute', cacheHit ? 'execute.cache_hit' : 'execute.completed', tool, (meter) => {
    const names = { arg_keys: argumentNames(args, tool), status };
    if (cacheHit) return { ...names, cache_hit: true, dispatched: false };
    const raw = meter.countScaled(told.beginning, told.chars);
    const compact = meter.count(shown);
    return {
      ...names,
      raw_chars: told.chars,
      raw_tokens: raw,
      compact_chars: shown.length,
      compact_tokens: compact,
      tokens_saved: Math.max(0, raw - compact),
      artifact_count: told.artifacts.length,
      artifact_bytes: told.artifacts.reduce((sum, artifact) => sum + artifact.size_bytes, 0),
      artifact_refs: told.artifacts.map((artifact) => artifact.handle),
      firewall_triggered: told.chars > shown.length,
      attempts,
      cache_hit: false,
    };
  });
  return {
    ...base,
    success: !isError,
    end: isError ? 'answered_with_error' : 'ok',
    retries: Math.max(0, attempts - 1),
    dispatched: !cacheHit && !shared,
    ...(isError
      ? { error: { code: 'UPSTREAM_ERROR', message: `${tool.server} answered with an error of its own.` } }
      : {}),
  };
}

function read({ method, tool, result }: Extract<AnswerTold, { kind: 'read' }>): CallEvent {
  const { told, text } = result;
  const base = done(method, 'read.completed', tool ?? null, (meter) => ({
    raw_chars: told.chars,
    raw_tokens: meter.countScaled(told.beginning, told.chars),
    compact_chars: text.length,
    compact_tokens: meter.count(text),
    artifact_count: told.artifacts.length,
    // A handle begins with what it came from.
    artifact_refs: tool ? told.artifacts.map((artifact) => artifact.handle) : [],
  }));
  return { ...base, toolId: tool?.id ?? UNKNOWN, dispatched: true };
}

function browseAttributes(
  args: Args,
  { cards, tools }: Extract<AnswerTold, { kind: 'browse' }>,
  meter: TokenMeter,
): Record<string, unknown> {
  const found = cards.filter((card) => tools.has(card.id));
  const cardTokens = found.reduce((sum, card) => sum + meter.count(canonicalJson(cardToJson(card))), 0);
  const schemaTokens = found.reduce((sum, card) => sum + meter.schema(tools.get(card.id)?.inputSchema), 0);
  return {
    ...asked(args),
    card_count: cards.length,
    tool_ids: found.map((card) => card.id),
    card_tokens: cardTokens,
    schema_tokens_avoided: Math.max(0, schemaTokens - cardTokens),
  };
}

/** How much was asked, not what. */
function asked(args: Args): Record<string, unknown> {
  const { query, path } = args;
  return {
    query_chars: typeof query === 'string' ? query.length : 0,
    path_depth: typeof path === 'string' ? path.split('/').filter((segment) => segment !== '').length : 0,
  };
}

function viewed(args: Args): Record<string, unknown> {
  const { handle } = args;
  const type = objectOf(args.selector).type;
  return {
    artifact_ref: typeof handle === 'string' && HANDLE.test(handle) ? handle : UNKNOWN,
    selector_type: type === undefined ? 'head' : (SELECTOR_TYPES.find((known) => known === type) ?? UNKNOWN),
  };
}

/** Names that the tool itself has given its arguments; a name that a caller made up may be anything. */
function argumentNames(args: Args, tool: CatalogTool | undefined): string[] {
  const known = objectOf(objectOf(tool?.inputSchema).properties);
  const names = Object.keys(objectOf(args.args)).map((name) => (Object.hasOwn(known, name) ? name : UNKNOWN));
  return [...new Set(names)].sort();
}

function namedTool(toolId: string): string | null {
  if (toolId === '') return null;
  return isToolId(toolId) ? toolId : UNKNOWN;
}

/** What was sent and never answered is lost; so is what found nobody to be sent to. */
function endOf({ code, details }: GatewayError): RequestEnd {
  const lost = code === 'UPSTREAM_TIMEOUT' || code === 'UPSTREAM_UNAVAILABLE' || details?.outcome === 'unknown';
  return lost ? 'lost' : 'answered_with_error';
}

function objectOf(value: unknown): Args {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Args) : {};
}
