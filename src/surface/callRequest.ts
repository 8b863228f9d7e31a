import type { Catalog } from '../catalog/catalog.ts';
import type { CallRequest } from '../dispatch/callPipeline.ts';
import { elicitApproval } from '../dispatch/elicitApproval.ts';
import { visibleText } from '../firewall/visibleText.ts';
import type { SurfaceCall } from '../protocol/sessionSurface.ts';
import { type ServerDirectory, unknownTool } from './gateway/unknownTool.ts';

/** What a client's call of a tool brings along, whichever face it has come to; the view it started on is its own to the end. */
export function clientEndOf(
  { session, id, counted, signal, progress, ask, meta, begins }: SurfaceCall,
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
