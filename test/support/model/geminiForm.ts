import { type ModelMessage, sendEvent, sendJson, textOf, type WireForm } from './wireForm.ts';

interface Part {
  text?: string;
  functionCall?: object;
  functionResponse?: { response?: unknown };
}

interface GenerateRequest {
  systemInstruction?: { parts?: Part[] };
  contents: { role?: 'user' | 'model'; parts: Part[] }[];
  tools?: {
    functionDeclarations?: {
      name: string;
      description?: string;
      parameters?: Record<string, unknown>;
      parametersJsonSchema?: Record<string, unknown>;
    }[];
  }[];
}

/** Gemini's generateContent. */
export const geminiForm: WireForm = {
  path: /\/models\/[^/]+:(streamGenerateContent|generateContent)$/,

  read(body, path) {
    const { systemInstruction, contents, tools = [] } = body as GenerateRequest;
    return {
      model: /models\/([^/:]+):/.exec(path)?.[1] ?? '',
      streams: path.endsWith(':streamGenerateContent'),
      tools: tools
        .flatMap(({ functionDeclarations = [] }) => functionDeclarations)
        .map(({ name, description = '', parameters, parametersJsonSchema }) => ({
          ...{ name, description },
          parameters: parameters ?? parametersJsonSchema ?? {},
        })),
      messages: [
        { role: 'system', text: textOf(systemInstruction?.parts) },
        ...contents.flatMap(({ role = 'user', parts }) => parts.map((part) => messageOf(role, part))),
      ],
    };
  },

  write(response, { model, streams }, text, calls) {
    const parts = [
      ...(text === '' ? [] : [{ text }]),
      ...calls.map(({ tool, args }) => ({ functionCall: { name: tool, args } })),
    ];
    const document = {
      candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1_000, candidatesTokenCount: 10, totalTokenCount: 1_010 },
      modelVersion: model,
    };
    if (!streams) return sendJson(response, document);
    sendEvent(response, document);
    response.end();
  },
};

function messageOf(role: 'user' | 'model', part: Part): ModelMessage {
  if (part.functionResponse) return { role: 'tool', text: JSON.stringify(part.functionResponse.response) };
  return { role: role === 'model' ? 'assistant' : 'user', text: part.text ?? '' };
}
