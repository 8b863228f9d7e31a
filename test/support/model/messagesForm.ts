import { callId, type ModelMessage, sendEvent, sendJson, textOf, type WireForm } from './wireForm.ts';

type Block = { type: 'text'; text: string } | { type: 'tool_result'; content: unknown } | { type: string };

interface MessagesRequest {
  model: string;
  system?: unknown;
  messages: { role: 'user' | 'assistant'; content: string | Block[] }[];
  tools?: { name: string; description?: string; input_schema?: Record<string, unknown> }[];
  stream?: boolean;
}

/** Anthropic's messages. */
export const messagesForm: WireForm = {
  path: /\/messages$/,

  read(body) {
    const { model, system, messages, tools = [], stream = false } = body as MessagesRequest;
    return {
      model,
      streams: stream,
      tools: tools.map(({ name, description = '', input_schema = {} }) => ({
        ...{ name, description },
        parameters: input_schema,
      })),
      messages: [{ role: 'system', text: textOf(system) }, ...messages.flatMap(messagesOf)],
    };
  },

  write(response, { model, streams }, text, calls) {
    const content = [
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...calls.map(({ tool, args }) => ({
        type: 'tool_use' as const,
        id: `toolu_${callId()}`,
        name: tool,
        input: args,
      })),
    ];
    const stop_reason = calls.length > 0 ? 'tool_use' : 'end_turn';
    const usage = { input_tokens: 1_000, output_tokens: 10 };
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model, stop_sequence: null, usage };
    if (!streams) return sendJson(response, { ...message, content, stop_reason });
    const send = (type: string, data: object) => sendEvent(response, { type, ...data }, type);
    send('message_start', { message: { ...message, content: [], stop_reason: null } });
    for (const [index, block] of content.entries()) {
      const [start, delta] =
        'input' in block
          ? [
              { ...block, input: {} },
              { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
            ]
          : [
              { type: 'text', text: '' },
              { type: 'text_delta', text: block.text },
            ];
      send('content_block_start', { index, content_block: start });
      send('content_block_delta', { index, delta });
      send('content_block_stop', { index });
    }
    send('message_delta', { delta: { stop_reason, stop_sequence: null }, usage });
    send('message_stop', {});
    response.end();
  },
};

function messagesOf({ role, content }: MessagesRequest['messages'][number]): ModelMessage[] {
  if (typeof content === 'string' || role === 'assistant') return [{ role, text: textOf(content) }];
  return content.map((block) =>
    'content' in block ? { role: 'tool', text: textOf(block.content) } : { role, text: textOf([block]) },
  );
}
