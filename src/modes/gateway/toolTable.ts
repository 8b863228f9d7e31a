import type { GatewayError } from '../../errors/gatewayError.ts';
import { isRecord } from '../../lib/isRecord.ts';
import { type CallEvent, failedEvent } from '../shared/callEvent.ts';
import type { GatewayToolName } from '../shared/gatewayTools.ts';
import type { FailedCall, RunnableTool } from '../shared/modeContext.ts';
import { hydrate } from '../transparent/hydrate.ts';
import { promptBrowse, resourceBrowse, toolBrowse } from './browse.ts';
import { execute } from './execute.ts';
import { promptGet, resourceRead } from './readPrimitive.ts';
import { view } from './view.ts';

/** Code of each declared tool. A declaration without code, or with that of another tool, is a type error. */
const TOOLS: { readonly [Name in GatewayToolName]: RunnableTool<Name> } = {
  tool_browse: toolBrowse,
  tool_execute: execute,
  tool_view: view,
  resource_browse: resourceBrowse,
  resource_read: resourceRead,
  prompt_browse: promptBrowse,
  prompt_get: promptGet,
  tool_hydrate: hydrate,
};

export function runnableTool(name: string): RunnableTool | undefined {
  return Object.hasOwn(TOOLS, name) ? TOOLS[name as GatewayToolName] : undefined;
}

/** Makes the event of a failed call, also for a name that is no tool's. */
export function failedCallEvent(
  name: string,
  given: unknown,
  error: GatewayError,
  toolOf: FailedCall['toolOf'],
): CallEvent {
  const tool = runnableTool(name);
  const args = isRecord(given) ? given : {};
  return failedEvent(tool, error, tool?.failed({ args, error, toolOf }) ?? {});
}
