import { dryRunText } from '../../dispatch/dryRun.ts';
import { elicitApproval } from '../../dispatch/elicitApproval.ts';
import { visibleText } from '../../firewall/visibleText.ts';
import type { SurfaceCall } from '../../protocol/sessionServer.ts';
import { type CheckedArguments, renderMode } from './arguments.ts';
import { chosenTool } from './chosenTool.ts';
import type { Answer, GatewayContext } from './gatewayContext.ts';
import type { SessionState } from './sessionState.ts';
import { tellContract } from './tellContract.ts';
import { unknownTool } from './unknownTool.ts';

export async function execute(
  args: CheckedArguments,
  context: GatewayContext,
  session: SessionState,
  call: SurfaceCall,
): Promise<Answer> {
  const {
    tool_id: given,
    args: toolArgs,
    dry_run: dryRun,
  } = args as { tool_id: string; args: unknown; dry_run?: boolean };
  const { catalog, revision } = context.view();
  const tool = chosenTool(given, catalog);
  const { id } = tool;
  tellContract(tool, context, call);
  const outcome = await context.clientRequests.during(call, (origin) =>
    context.calls.execute({
      toolId: id,
      args: toolArgs,
      dryRun: dryRun === true,
      session: call.session,
      signal: call.signal,
      onProgress: call.progress,
      approval: elicitApproval(call.ask, visibleText),
      tools: catalog.byId,
      unknownTool: (toolId) => unknownTool(toolId, catalog),
      meta: call.meta,
      origin,
    }),
  );
  if (outcome.kind === 'dry_run') {
    return { text: dryRunText(outcome.report), data: outcome.report, told: { kind: 'dry_run', tool } };
  }
  const { text, parts, isError, envelope } = outcome.result;
  session.recordHydrated(id, revision);
  const query = session.queryFor(id);
  if (query !== undefined && !isError) context.recordUse(query, id);
  // The envelope counts tokens: it is made only when it is asked for.
  const data = renderMode(args) === 'json' ? envelope() : undefined;
  const { result, diagnostics } = outcome;
  return {
    text,
    data: data ?? {},
    isError,
    media: parts,
    told: { kind: 'execute', tool, diagnostics, result, shown: data?.summary ?? text },
  };
}
