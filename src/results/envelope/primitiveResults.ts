import { isRecord } from '../../lib/isRecord.ts';

/** Converts answers of `resources/read` and `prompts/get` into the form of tool results (G10.5). */

/** Converts the contents of a resource to embedded resources: the text is shown, the bytes are stored. */
export function resourceAsResult(read: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const contents = Array.isArray(read.contents) ? (read.contents as unknown[]) : [];
  return { content: contents.map((resource) => (isRecord(resource) ? { type: 'resource', resource } : resource)) };
}

/** Converts a rendered prompt: its messages in order, each under its role. */
export function promptAsResult(prompt: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const messages = Array.isArray(prompt.messages) ? (prompt.messages as unknown[]) : [];
  return {
    content: messages.flatMap((message) => {
      if (!isRecord(message)) return [message];
      const { role, content } = message;
      const speaker = typeof role === 'string' ? `[${role}]` : '[?]';
      const parts = Array.isArray(content) ? (content as unknown[]) : [content];
      return parts.flatMap((part) => {
        if (!isRecord(part) || part.type !== 'text') return [{ type: 'text', text: speaker }, part];
        return [{ ...part, text: `${speaker} ${part.text}` }];
      });
    }),
  };
}
