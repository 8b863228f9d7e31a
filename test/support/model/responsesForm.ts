import { callId, type ModelMessage, type OfferedTool, sendEvent, sendJson, textOf, type WireForm } from './wireForm.ts';

type Item =
  | { type: 'message' | undefined; role: 'system' | 'developer' | 'user' | 'assistant'; content: unknown }
  | { type: 'function_call' }
  | { type: 'function_call_output'; output: unknown };

type Tool = ({ type: 'function' } & OfferedTool) | { type: 'namespace'; name: string; tools: Tool[] };

interface ResponsesRequest {
  model: string;
  instructions?: string;
  input: string | Item[];
  tools?: Tool[];
  stream?: boolean;
}

/** Between the namespace and the name of a tool. */
const IN = '/';

/** OpenAI's responses. */
export const responsesForm: WireForm = {
  path: /\/responses$/,

  read(body) {
    const { model, instructions, input, tools = [], stream = false } = body as ResponsesRequest;
    const items: ModelMessage[] =
      typeof input === 'string' ? [{ role: 'user', text: input }] : input.flatMap(messageOf);
    const system: ModelMessage[] = instructions === undefined ? [] : [{ role: 'system', text: instructions }];
    return { model, streams: stream, tools: flat(tools), messages: [...system, ...items] };
  },

  write(response, { model, streams }, text, calls) {
    const words = { type: 'output_text', text, annotations: [] };
    const said = { type: 'message', id: 'message_1', role: 'assistant', status: 'completed', content: [words] };
    const output = calls.length === 0 ? [said] : calls.map(({ tool, args }) => callItem(tool, args));
    const usage = {
      ...{ input_tokens: 1_000, output_tokens: 10, total_tokens: 1_010 },
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    };
    const base = { id: callId(), object: 'response', created_at: 1, model };
    const whole = { ...base, status: 'completed', output, usage };
    if (!streams) return sendJson(response, whole);
    const send = (type: string, data: object) => sendEvent(response, { type, ...data }, type);
    send('response.created', { response: { ...base, status: 'in_progress', output: [] } });
    for (const [output_index, item] of output.entries()) {
      send('response.output_item.added', { output_index, item });
      send('response.output_item.done', { output_index, item });
    }
    send('response.completed', { response: whole });
    response.end();
  },
};

function messageOf(item: Item): ModelMessage[] {
  if (item.type === 'function_call') return [{ role: 'assistant', text: '' }];
  if (item.type === 'function_call_output') return [{ role: 'tool', text: textOf(item.output) }];
  if (!('role' in item)) return [];
  return [{ role: item.role === 'developer' ? 'system' : item.role, text: textOf(item.content) }];
}

function flat(tools: readonly Tool[], within = ''): OfferedTool[] {
  return tools.flatMap((tool) => {
    if (tool.type === 'namespace') return flat(tool.tools, `${within}${tool.name}${IN}`);
    return tool.type === 'function' ? [{ ...tool, name: within + tool.name }] : [];
  });
}

function callItem(tool: string, args: object): object {
  const call_id = callId();
  const at = tool.lastIndexOf(IN);
  return {
    ...{ type: 'function_call', id: `fc_${call_id}`, call_id, status: 'completed', arguments: JSON.stringify(args) },
    name: tool.slice(at + 1),
    ...(at !== -1 && { namespace: tool.slice(0, at) }),
  };
}
