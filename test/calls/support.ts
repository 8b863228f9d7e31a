import type { JsonObject } from '../../src/calls/json.ts';
import {
  type CallOutcome,
  CallPipeline,
  type CallRequest,
  type PipelinePorts,
} from '../../src/calls/pipeline/callPipeline.ts';
import type { Upstream } from '../../src/calls/pipeline/dispatchCall.ts';
import { ingestTool } from '../../src/catalog/ingest.ts';
import type { CatalogTool } from '../../src/catalog/types.ts';
import type { CallSettings } from '../../src/config/declaration/callBlocks.ts';
import { DEFAULT_SETTINGS } from '../../src/config/declaration/document.ts';
import { faultOf } from '../../src/errors/fault.ts';
import { GatewayError, type GatewayErrorObject } from '../../src/errors/gatewayError.ts';
import { Oddities } from '../../src/mcp/wire/oddities.ts';
import { UpstreamClient } from '../../src/mcp/wire/upstreamClient.ts';
import { ServerCalls } from '../../src/upstream/connection/serverCalls.ts';
import type { RequestOptions } from '../../src/upstream/connection/serverRequest.ts';
import type { Live } from '../../src/upstream/start/serverStart.ts';
import { LinkFailure, type UpstreamLink } from '../../src/upstream/transports/upstreamLink.ts';

export function toolOf(raw: JsonObject, server?: string): CatalogTool {
  return ingestTool(raw, server === undefined ? undefined : { server, namespace: server }).tool;
}

export function toolsOf(raws: readonly JsonObject[], server?: string): Map<string, CatalogTool> {
  return new Map(raws.map((raw) => toolOf(raw, server)).map((tool) => [tool.id, tool]));
}

export const text = (words: string, more: JsonObject = {}): JsonObject => ({
  content: [{ type: 'text', text: words }],
  ...more,
});

type TestAnswer = (call: {
  tool: string;
  args: JsonObject;
  n: number;
  signal: AbortSignal;
  onProgress: (p: { progress: number }) => void;
}) => JsonObject | Promise<JsonObject>;

/** Server within the test, behind the calls of a connection. Counts requests and returns prepared answers. */
export class TestUpstream extends UpstreamClient implements Upstream {
  state = 'ready';
  reason: string | undefined;
  isPerSession = false;
  readonly calls: { tool: string; args: JsonObject }[] = [];
  answer: TestAnswer = ({ tool }) => text(`called ${tool}`);
  readonly #calls: ServerCalls;

  constructor() {
    super();
    const link = { pid: undefined, stderr: [], explain: async (error: unknown) => new LinkFailure(String(error)) };
    const live: Live = {
      generation: 1,
      link: link as unknown as UpstreamLink,
      client: this,
      wasKnown: true,
      lose: () => undefined,
      lost: new Promise(() => undefined),
    };
    const scrubSecrets = (words: string): string => words.replaceAll('SECRET', '[REDACTED-SECRET]');
    this.#calls = new ServerCalls(
      {
        usable: live,
        waitUntilReady: () => Promise.reject(new Error('it waits for nothing')),
        proved: () => undefined,
        remark: () => undefined,
        faultOf: ({ code, message }) => faultOf(code, { generation: 1, detail: message }, scrubSecrets),
        scrubSecrets,
      },
      new Oddities(),
    );
    this.#calls.opened(live);
  }

  call(tool: string, args: JsonObject, options: RequestOptions): Promise<JsonObject> {
    return this.#calls.send('tools/call', { name: tool, arguments: args }, options);
  }

  /** Requests that the connection sends to the server. */
  override async request(_method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    const { name: tool, arguments: args } = params as { name: string; arguments: JsonObject };
    const { signal, onProgress = () => undefined } = options;
    this.calls.push({ tool, args });
    return this.answer({ tool, args, n: this.calls.length, signal: signal as AbortSignal, onProgress });
  }
}

export interface Firewalled {
  text: string;
  provenance: JsonObject;
}

export interface Bench {
  upstream: TestUpstream;
  pipeline: CallPipeline<Firewalled>;
  log: string[];
  firewalled: JsonObject[];
  session: object;
  run(toolId: string, args: unknown, more?: Partial<CallRequest>): Promise<CallOutcome<Firewalled>>;
  /** Returns the error object of a call that must fail. */
  fail(toolId: string, args: unknown, more?: Partial<CallRequest>): Promise<GatewayErrorObject>;
}

export function bench(
  tools: ReadonlyMap<string, CatalogTool>,
  config: Partial<CallSettings> = {},
  ports: Partial<PipelinePorts<Firewalled>> = {},
): Bench {
  const upstream = new TestUpstream();
  const log: string[] = [];
  const firewalled: JsonObject[] = [];
  const session = {};
  const pipeline = new CallPipeline<Firewalled>(
    {
      upstream: () => upstream,
      firewall: (result, { provenance }) => {
        firewalled.push(result);
        const [part] = result.content as { text: string }[];
        return { text: part?.text ?? '', provenance };
      },
      scrubSecrets: (words) => words.replaceAll('SECRET', '[REDACTED-SECRET]'),
      log: (line) => log.push(line),
      random: () => 1,
      ...ports,
    },
    { ...DEFAULT_SETTINGS, ...config },
  );
  const run: Bench['run'] = (toolId, args, more) =>
    pipeline.execute({
      toolId,
      args,
      session,
      signal: new AbortController().signal,
      tools,
      unknownTool: (id) => new GatewayError('HYDRATE_FAILED', `There is no tool ${id}.`, { path: id }),
      ...more,
    });
  const fail: Bench['fail'] = async (toolId, args, more) => {
    try {
      await run(toolId, args, more);
    } catch (error) {
      if (error instanceof GatewayError) return error.toObject();
      throw error;
    }
    throw new Error(`${toolId} was expected to fail`);
  };
  return { upstream, pipeline, log, firewalled, session, run, fail };
}

export function resultOf(outcome: CallOutcome<Firewalled>): Firewalled {
  if (outcome.kind !== 'result') throw new Error('it was a dry run');
  return outcome.result;
}
