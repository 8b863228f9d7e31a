import { ProviderError } from '../provider/providerError.ts';
import type { RecordProvider } from '../provider/recordProvider.ts';
import { Declined, declinedAnswer, Refusal, refusalAnswer, type ToolAnswer } from './answers.ts';
import { checkArguments } from './argumentCheck.ts';
import { aggregate } from './read/aggregateTool.ts';
import { fetchDocument } from './read/fetchTool.ts';
import { queryRecords } from './read/queryTool.ts';
import { search } from './read/searchTool.ts';
import type { ReadContext } from './readContext.ts';
import { schema } from './schema/schemaTool.ts';
import { TOOLS, type ToolName } from './tools.ts';

type Run = (args: never, context: ReadContext) => Promise<ToolAnswer>;

const RUN: Readonly<Record<ToolName, Run>> = {
  schema,
  query_records: queryRecords,
  aggregate,
  search,
  fetch: fetchDocument,
};

export function isTool(name: string): name is ToolName {
  return TOOLS.some((tool) => tool.name === name);
}

/** Gives every failure of a provider its type. Providers promise messages that may be shown. */
function typed(provider: RecordProvider): RecordProvider {
  return {
    url: provider.url,
    get: (request) =>
      provider.get(request).catch((error: unknown) => {
        if (error instanceof ProviderError) throw error;
        throw new ProviderError('provider_failed', error instanceof Error ? error.message : String(error));
      }),
    refusal: (connectionId) => provider.refusal?.(connectionId),
    dispose: () => provider.dispose(),
  };
}

/** Calls one of the five tools (R1). Errors are results: of the provider, of the arguments, or of the way to it. */
export async function callTool(tool: ToolName, given: unknown, context: ReadContext): Promise<ToolAnswer> {
  const { provider } = context;
  try {
    const args = given ?? {};
    checkArguments(tool, args);
    return await RUN[tool](args as never, { ...context, provider: typed(provider) });
  } catch (error) {
    if (error instanceof Refusal) return refusalAnswer(error, provider.url);
    if (error instanceof Declined) return declinedAnswer(error.answer, provider.url);
    if (error instanceof ProviderError) return refusalAnswer(new Refusal(error.code, error.message), provider.url);
    throw error;
  }
}
