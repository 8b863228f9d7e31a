import { dispatchCall } from '../../dispatch/dispatchCall.ts';
import { argumentError } from '../../dispatch/validateArgs.ts';
import { Firewall } from '../../firewall/firewall.ts';
import { GatewayError } from '../../ops/gatewayError.ts';
import { type CheckedArguments, type RenderMode, renderMode } from './arguments.ts';
import type { Answer, GatewayContext } from './gatewayContext.ts';
import { unknownTool } from './unknownTool.ts';

export async function execute(args: CheckedArguments, context: GatewayContext, signal: AbortSignal): Promise<Answer> {
  const {
    tool_id: id,
    args: toolArgs,
    dry_run: dryRun,
  } = args as {
    tool_id: string;
    args: Record<string, unknown>;
    dry_run?: boolean;
  };
  const { catalog } = context.view();
  const tool = catalog.byId.get(id);
  if (!tool) throw unknownTool(id, catalog);
  const invalid = argumentError(tool, toolArgs);
  if (invalid) throw invalid;
  if (dryRun) return dryRunReport(id, tool.upstreamName, tool.annotations);
  const connection = context.connection(tool.server);
  if (!connection) {
    throw new GatewayError('HYDRATE_FAILED', `The server ${tool.server} has left the configuration; browse again.`, {
      path: id,
    });
  }
  const result = await dispatchCall(tool, connection, toolArgs, signal);
  return answerOf(result, id, tool.upstreamName, renderMode(args), context);
}

function dryRunReport(id: string, upstreamName: string, annotations: Readonly<Record<string, unknown>>): Answer {
  return {
    text: `Dry run of ${id}: the arguments are valid. Nothing was called.`,
    data: {
      dry_run: true,
      tool_id: id,
      upstream_name: upstreamName,
      args_valid: true,
      annotations: { ...annotations, verified: false },
      checks: [{ name: 'schema_validation', status: 'pass' }],
    },
  };
}

/** What a server answered, behind the firewall (000 §4.2). */
async function answerOf(
  result: Record<string, unknown>,
  id: string,
  upstreamName: string,
  mode: RenderMode,
  context: GatewayContext,
): Promise<Answer> {
  const firewall = new Firewall({ store: context.artifacts });
  const { text, parts, isError, envelope } = await firewall.admit(result, { toolId: id, upstreamName });
  // The envelope counts tokens: it is made only when it is asked for.
  return { text, data: mode === 'json' ? envelope() : {}, isError, media: parts };
}
