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
import type { RequestEnd } from '../../telemetry/counters.ts';
import type { TokenMeter } from './catalog/tokenMeter.ts';

/** Record of one call for telemetry and the event log: counts and names, never a value that somebody gave. */
export interface CallEvent {
  event: string;
  success: boolean;
  toolId: string | null;
  namespace: string | null;
  /** Name of the gateway's own tool that was called, or `(unknown)`. */
  method: string;
  end: RequestEnd;
  retries: number;
  /** The call reached a server, whatever the outcome. */
  dispatched: boolean;
  error?: { code: string; message: string };
  /** Fault behind the error. */
  fault?: Fault | undefined;
  /** Counts tokens, so it runs when the event is written and not before the answer. */
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
/** Form of real handles: kind, tool and digest. A caller made up anything else. */
const HANDLE = /^[a-z_]{1,20}:.{1,200}:[0-9a-f]{16}$/;
/** Stands for a name that a caller made up. */
const UNKNOWN = '(unknown)';

/** A call that succeeded, unless `more` says otherwise. */
function callEvent(event: string, method: string, more: Partial<CallEvent>): CallEvent {
  return {
    event,
    success: true,
    toolId: null,
    namespace: null,
    method,
    end: 'ok',
    retries: 0,
    dispatched: false,
    attributes: () => ({}),
    ...more,
  };
}

function ofTool({ id: toolId, namespace }: CatalogTool): Pick<CallEvent, 'toolId' | 'namespace'> {
  return { toolId, namespace };
}

/** End of a call whose server answered with an error of its own. */
function answeredWithError({ server }: CatalogTool): Partial<CallEvent> {
  const message = `${server} answered with an error of its own.`;
  return { success: false, end: 'answered_with_error', error: { code: 'UPSTREAM_ERROR', message } };
}

export function answeredEvent(given: unknown, told: AnswerTold): CallEvent {
  const args = objectOf(given);
  switch (told.kind) {
    case 'browse':
      return callEvent('browse.completed', told.method, {
        attributes: (meter) => browseAttributes(args, told, meter),
      });
    case 'hydrate':
      return callEvent('hydrate.completed', 'tool_view', {
        ...ofTool(told.tool),
        attributes: (meter) => ({ schema_tokens: meter.schema(told.tool.inputSchema) }),
      });
    case 'view':
      return callEvent('view.completed', 'tool_view', {
        attributes: (meter) => ({
          ...viewed(args),
          result_chars: told.shown.length,
          result_tokens: meter.count(told.shown),
        }),
      });
    case 'dry_run':
      return callEvent('execute.dry_run', 'tool_execute', {
        ...ofTool(told.tool),
        attributes: () => ({ arg_keys: argumentNames(args, told.tool), dispatched: false }),
      });
    case 'execute':
      return executed(args, told);
    case 'read':
      return read(told);
  }
}

/** A call that was forwarded unchanged: nothing of its answer is recorded. */
export function forwardedEvent(tool: CatalogTool, isError: boolean): CallEvent {
  return callEvent('execute.completed', 'tool_execute', {
    ...ofTool(tool),
    dispatched: true,
    attributes: () => ({ status: isError ? 'error' : 'ok' }),
    ...(isError ? answeredWithError(tool) : {}),
  });
}

/** A read that was forwarded unchanged. `choice` is absent for an address that no server lists. */
export function forwardedReadEvent(method: 'resource_read' | 'prompt_get', choice: CatalogTool | undefined): CallEvent {
  return callEvent('read.completed', method, {
    ...(choice ? ofTool(choice) : { toolId: UNKNOWN }),
    dispatched: true,
  });
}

export function failedEvent(
  name: string,
  given: unknown,
  error: GatewayError,
  toolOf: (toolId: string) => CatalogTool | undefined,
): CallEvent {
  const args = objectOf(given);
  const { code, message, details, fault } = error;
  const dispatched = code.startsWith('UPSTREAM_') && details?.outcome !== 'not_dispatched';
  const failed = (event: string, more: Partial<CallEvent> = {}): CallEvent =>
    callEvent(event, name, {
      success: false,
      end: endOf(error),
      retries: Math.max(0, Number(details?.attempts ?? 1) - 1),
      error: { code, message },
      fault,
      attributes: () => ({ error_code: code }),
      ...more,
    });
  const named = (toolId: string): Partial<CallEvent> => ({
    toolId: namedTool(toolId),
    namespace: toolOf(toolId)?.namespace ?? null,
  });
  switch (name) {
    case 'tool_browse':
    case 'resource_browse':
    case 'prompt_browse':
      return failed('browse.failed', { attributes: () => ({ error_code: code, ...asked(args) }) });
    case 'resource_read':
    case 'prompt_get':
      return failed('read.failed', { dispatched });
    case 'tool_view': {
      const handle = typeof args.handle === 'string' ? args.handle : '';
      if (!handle.startsWith(SCHEMA_PREFIX))
        return failed('view.failed', { attributes: () => ({ ...viewed(args), error_code: code }) });
      // The client asked to view a handle; the event is a hydration.
      return failed('hydrate.failed', {
        ...named(handle.slice(SCHEMA_PREFIX.length)),
        attributes: () => ({ error_code: code === 'VIEW_FAILED' ? 'HYDRATE_FAILED' : code }),
      });
    }
    case 'tool_execute': {
      // The path has the corrected id, where the given id was corrected.
      const toolId = error.path !== '' ? error.path : String(args.tool_id ?? '');
      return failed('execute.failed', {
        ...named(toolId),
        dispatched,
        attributes: () => ({ error_code: code, arg_keys: argumentNames(args, toolOf(toolId)) }),
      });
    }
    default:
      return failed('call.failed', { method: UNKNOWN });
  }
}

function executed(
  args: Args,
  { tool, diagnostics, result, shown }: Extract<AnswerTold, { kind: 'execute' }>,
): CallEvent {
  const { attempts, cacheHit, shared } = diagnostics;
  const { isError, summary: told } = result;
  const status = isError ? 'error' : told.partial ? 'partial' : 'ok';
  return callEvent(cacheHit ? 'execute.cache_hit' : 'execute.completed', 'tool_execute', {
    ...ofTool(tool),
    retries: Math.max(0, attempts - 1),
    dispatched: !cacheHit && !shared,
    ...(isError ? answeredWithError(tool) : {}),
    attributes: (meter) => {
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
    },
  });
}

function read({ method, tool, result: { summary: told, text } }: Extract<AnswerTold, { kind: 'read' }>): CallEvent {
  return callEvent('read.completed', method, {
    ...(tool ? ofTool(tool) : { toolId: UNKNOWN }),
    dispatched: true,
    attributes: (meter) => ({
      raw_chars: told.chars,
      raw_tokens: meter.countScaled(told.beginning, told.chars),
      compact_chars: text.length,
      compact_tokens: meter.count(text),
      artifact_count: told.artifacts.length,
      // A handle begins with the name of its origin.
      artifact_refs: tool ? told.artifacts.map((artifact) => artifact.handle) : [],
    }),
  });
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

/** Size of the question, without its words. */
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

/** Argument names of the tool's schema. Other names are made up by the caller and hidden. */
function argumentNames(args: Args, tool: CatalogTool | undefined): string[] {
  const known = objectOf(objectOf(tool?.inputSchema).properties);
  const names = Object.keys(objectOf(args.args)).map((name) => (Object.hasOwn(known, name) ? name : UNKNOWN));
  return [...new Set(names)].sort();
}

function namedTool(toolId: string): string | null {
  if (toolId === '') return null;
  return isToolId(toolId) ? toolId : UNKNOWN;
}

/** A call is lost if it was sent and never answered, or if its server could not be reached. */
function endOf({ code, details }: GatewayError): RequestEnd {
  const lost = code === 'UPSTREAM_TIMEOUT' || code === 'UPSTREAM_UNAVAILABLE' || details?.outcome === 'unknown';
  return lost ? 'lost' : 'answered_with_error';
}

function objectOf(value: unknown): Args {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Args) : {};
}
