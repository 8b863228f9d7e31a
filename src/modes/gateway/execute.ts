import { dryRunText } from '../../calls/pipeline/dryRun.ts';
import type { CallContext } from '../../mcp/session/sessionMode.ts';
import type { ReportNormalisation } from '../../text/normalise.ts';
import { firstLines, oneLine, shortened } from '../../text/porcelain.ts';
import { announceContract } from '../shared/announceContract.ts';
import { type CheckedArguments, renderMode } from '../shared/arguments.ts';
import { clientEndOf } from '../shared/callRequest.ts';
import { chosenTool } from '../shared/chosenTool.ts';
import type { Answer, GatewayContext } from '../shared/modeContext.ts';
import type { SessionState } from '../shared/sessionState.ts';

/** The data has all of them (`arg_repairs`). */
const MAX_REPAIRS_TOLD = 5;

export async function execute(
  args: CheckedArguments,
  context: GatewayContext,
  session: SessionState,
  call: CallContext,
  tell: ReportNormalisation,
): Promise<Answer> {
  const {
    tool_id: given,
    args: toolArgs,
    dry_run: dryRun,
  } = args as { tool_id: string; args: unknown; dry_run?: boolean };
  const { catalog, revision } = context.view();
  const tool = chosenTool(given, catalog, context);
  const { id } = tool;
  if (id !== given) tell({ rule: 'tool_id', from: shortened(given, 128), to: id });
  announceContract(tool, context, call);
  const outcome = await context.clientRequests.during(call, (origin) =>
    context.calls.execute({
      ...clientEndOf(call, catalog, context),
      toolId: id,
      args: toolArgs,
      dryRun: dryRun === true,
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
  const { result, diagnostics, repairs } = outcome;
  const repaired = repairs.map(
    ({ path, rule }) => `note: ${oneLine(path, 128)} of the arguments was repaired (${rule})`,
  );
  return {
    text,
    data: data ?? {},
    isError,
    media: parts,
    notes: firstLines(repaired, MAX_REPAIRS_TOLD),
    told: { kind: 'execute', tool, diagnostics, result, shown: data?.summary ?? text },
  };
}
