import type { CallRequest } from '../../calls/pipeline/callPipeline.ts';
import { elicitApproval } from '../../calls/policy/elicitApproval.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import { scrubSecrets } from '../../secrets/mask.ts';
import type { TracedCall } from './callRecord.ts';
import { type ServerDirectory, unknownTool } from './unknownTool.ts';

/** Returns the client's end of a tool call, in any mode. The call keeps the catalog view that it started with. */
export function clientEndOf(
  { session, id, counted, signal, progress, ask, meta, begins, trace }: TracedCall,
  catalog: Catalog,
  directory: ServerDirectory,
): Omit<CallRequest, 'toolId' | 'args'> {
  return {
    session,
    requestId: id,
    counted,
    signal,
    onProgress: progress,
    approval: elicitApproval(ask, scrubSecrets),
    trace,
    tools: catalog.byId,
    unknownTool: (toolId) => unknownTool(toolId, catalog, directory),
    meta,
    begins,
  };
}
