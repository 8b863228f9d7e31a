import { callId, type ModelMessage, type OfferedTool, sendEvent, sendJson, textOf, type WireForm } from './wireForm.ts';

interface ChatRequest {
  model: string;
  messages: { role: ModelMessage['role'] | 'developer'; content: unknown }[];
  tools?: { function: OfferedTool }[];
  stream?: boolean;
}

/** OpenAI's chat completions. */
export const chatForm: WireForm = {
  path: /\/chat\/completions$/,

  read(body) {
    const { model, messages, tools = [], stream = false } = body as ChatRequest;
    return {
      model,
      streams: stream,
      tools: tools.map(({ function: tool }) => tool),
      messages: messages.map(({ role, content }) => ({
        role: role === 'developer' ? 'system' : role,
        text: textOf(content),
      })),
    };
  },

  write(response, { model, streams }, text, calls) {
    const base = { id: 'completion', object: streams ? 'chat.completion.chunk' : 'chat.completion', created: 1, model };
    const usage = { prompt_tokens: 1_000, completion_tokens: 10, total_tokens: 1_010 };
    const tool_calls = calls.map(({ tool, args }, index) => ({
      index,
      id: callId(),
      type: 'function',
      function: { name: tool, arguments: JSON.stringify(args) },
    }));
    const message = { role: 'assistant', content: text, ...(tool_calls.length > 0 && { tool_calls }) };
    const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop';
    if (!streams) return sendJson(response, { ...base, choices: [{ index: 0, message, finish_reason }], usage });
    sendEvent(response, { ...base, choices: [{ index: 0, delta: message, finish_reason: null }] });
    sendEvent(response, { ...base, choices: [{ index: 0, delta: {}, finish_reason }] });
    sendEvent(response, { ...base, choices: [], usage });
    response.end('data: [DONE]\n\n');
  },
};
