import type { CallRequest } from '../../calls/pipeline/callPipeline.ts';
import { elicitApproval } from '../../calls/policy/elicitApproval.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import type { CallContext } from '../../mcp/session/sessionMode.ts';
import { visibleText } from '../../text/visibleText.ts';
import { type ServerDirectory, unknownTool } from './unknownTool.ts';

/** What a client's call of a tool brings along, whichever mode it has come to; the view it started on is its own to the end. */
export function clientEndOf(
  { session, id, counted, signal, progress, ask, meta, begins }: CallContext,
  catalog: Catalog,
  directory: ServerDirectory,
): Omit<CallRequest, 'toolId' | 'args'> {
  return {
    session,
    requestId: id,
    counted,
    signal,
    onProgress: progress,
    approval: elicitApproval(ask, visibleText),
    tools: catalog.byId,
    unknownTool: (toolId) => unknownTool(toolId, catalog, directory),
    meta,
    begins,
  };
}
