import type { CatalogTool } from '../../catalog/types.ts';
import type { PassthroughContext } from './passthroughContext.ts';

/** Returns the result unchanged, or a digest with a handle if results pass the firewall and this one is long. */
export async function shownResult(
  result: Record<string, unknown>,
  tool: Pick<CatalogTool, 'id' | 'upstreamName'>,
  context: Pick<PassthroughContext, 'digest' | 'shownChars'>,
): Promise<Record<string, unknown>> {
  const digest = context.digest();
  if (!digest || isShort(result, context.shownChars())) return result;
  const { text, parts, isError } = await digest(result, tool);
  const { _meta } = result;
  return {
    content: [{ type: 'text', text: `${text}\n` }, ...parts],
    ...(isError ? { isError } : {}),
    ...(_meta === undefined ? {} : { _meta }),
  };
}

function isShort({ content, structuredContent }: Record<string, unknown>, chars: number): boolean {
  try {
    const structured = structuredContent === undefined ? 0 : JSON.stringify(structuredContent).length;
    return JSON.stringify(content ?? []).length + structured <= chars;
  } catch {
    // A result too deep to serialise is too long to show.
    return false;
  }
}
