import type { StaticItem, StaticListing, StaticServerConfig } from '../../config/gatewayConfig.ts';
import { INVALID_PARAMS, METHOD_NOT_FOUND, RESOURCE_NOT_FOUND } from '../../errors/rpcCodes.ts';
import { RpcError } from '../../errors/rpcError.ts';
import { VERSION } from '../../lib/build.ts';
import { quoted } from '../../text/porcelain.ts';
import { InProcessLink } from './inProcessLink.ts';
import type { UpstreamLink } from './upstreamLink.ts';

type Json = Readonly<Record<string, unknown>>;

/** Makes the link to a part of a static catalog, answered by a stub (G10.10). */
export function staticLink({ listing }: StaticServerConfig): UpstreamLink {
  return new InProcessLink((method, params) => answer(listing, method, params));
}

/** Returns the answer given in the file, or a stub that repeats the request. */
function answer(listing: StaticListing, method: string, params: Json): Record<string, unknown> {
  const { tools, resources, prompts } = listing;
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion,
        capabilities: {
          ...(tools.length > 0 ? { tools: {} } : {}),
          ...(resources.length > 0 ? { resources: {} } : {}),
          ...(prompts.length > 0 ? { prompts: {} } : {}),
        },
        serverInfo: { name: 'waygate-static-catalog', version: VERSION },
      };
    case 'tools/list':
      return { tools: tools.map(listed) };
    case 'resources/list':
      return { resources: resources.map(listed) };
    case 'resources/templates/list':
      return { resourceTemplates: [] };
    case 'prompts/list':
      return { prompts: prompts.map(listed) };
    case 'tools/call': {
      const item = named(tools, 'name', params.name, INVALID_PARAMS);
      const names = Object.keys((params.arguments ?? {}) as object).sort();
      const words = `Stub answer of ${params.name}, called with ${names.length === 0 ? 'no arguments' : names.join(', ')}.`;
      return { ...(item.answer ?? { content: [{ type: 'text', text: words }] }) };
    }
    case 'resources/read': {
      const { listed: resource, answer: given } = named(resources, 'uri', params.uri, RESOURCE_NOT_FOUND);
      const { uri, mimeType } = resource;
      const content = given ?? { text: `Stub content of ${String(uri)}.` };
      return { contents: [{ uri, ...(mimeType === undefined ? {} : { mimeType }), ...content }] };
    }
    case 'prompts/get': {
      const { listed: prompt, answer: given } = named(prompts, 'name', params.name, INVALID_PARAMS);
      const values = Object.entries((params.arguments ?? {}) as object);
      const text = [`Stub text of the prompt ${params.name}.`, ...values.map(([key, value]) => `${key}: ${value}`)];
      const messages = [{ role: 'user', content: { type: 'text', text: text.join('\n') } }];
      const { description } = prompt;
      return { ...(description === undefined ? {} : { description }), messages, ...given };
    }
    case 'ping':
      return {};
    default:
      throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${method}`);
  }
}

function listed(item: StaticItem): Json {
  return item.listed;
}

function named(items: readonly StaticItem[], key: 'name' | 'uri', value: unknown, code: number): StaticItem {
  const item = items.find((one) => one.listed[key] === value);
  if (item) return item;
  throw new RpcError(code, `The catalog has no ${key} ${quoted(String(value))}.`);
}
