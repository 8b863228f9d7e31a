import { isRecord } from '../../../lib/isRecord.ts';
import type { CallContext } from '../../../mcp/session/sessionMode.ts';
import { scrubSecrets } from '../../../secrets/mask.ts';
import { maskKnownValue, scrubValue } from '../../../secrets/scrubValue.ts';
import { isExecutable, isLinkable } from '../../../text/foreignAddress.ts';
import { visibleData, visibleText } from '../../../text/visibleText.ts';

type Json = Record<string, unknown>;

/** Members of answers with parts, messages of parts, or resources. */
const ADDRESSES: Readonly<Record<string, (member: unknown, workspace: string) => unknown>> = {
  content: safeParts,
  messages: (member, workspace) =>
    Array.isArray(member)
      ? member.map((one) => (isRecord(one) ? { ...one, content: safeParts(one.content, workspace) } : one))
      : member,
  resources: (member) => openable(member, 'uri'),
  resourceTemplates: (member) => openable(member, 'uriTemplate'),
  completion: (member) => visibleData(maskKnownValue(member)),
  prompts: (member) => (Array.isArray(member) ? safeIcons(member) : member),
};

/** Leaves out icons that are neither on the web nor pictures within the list. */
export function safeIcons<T>(items: readonly T[]): readonly T[] {
  return items.map((item) => {
    if (!isRecord(item) || !Array.isArray(item.icons)) return item;
    const icons = item.icons.filter((icon) => isRecord(icon) && /^(?:https:\/\/|data:image\/)/.test(String(icon.src)));
    return { ...item, icons };
  });
}

/** Returns the answer to a request of a client, without links that the client must not open. */
export function safeAnswer(answer: object, workspace: string): object {
  const changed = Object.entries(ADDRESSES).flatMap(([key, safe]) => {
    const member = (answer as Json)[key];
    return member === undefined ? [] : [[key, safe(member, workspace)] as const];
  });
  return changed.length === 0 ? answer : { ...answer, ...Object.fromEntries(changed) };
}

/** Clients show and log progress, so its text is always masked. */
export function withMaskedProgress(call: CallContext): CallContext {
  const { progress } = call;
  if (!progress) return call;
  return {
    ...call,
    progress: (one) => {
      const { message, ...rest } = one;
      progress(message === undefined ? rest : { ...rest, message: visibleText(scrubSecrets(String(message))) });
    },
  };
}

/** Returns the metadata that MCP declares for traces. Some client may show or act on any other. */
export function traceOf(meta: unknown): Json {
  const known = Object.entries(meta ?? {}).filter(
    ([key, value]) =>
      TRACE.includes(key) && typeof value === 'string' && value.length <= 512 && visibleText(value) === value,
  );
  return scrubValue(Object.fromEntries(known)) as Json;
}

const TRACE = ['traceparent', 'tracestate', 'baggage'];

function openable(items: unknown, key: string): unknown {
  if (!Array.isArray(items)) return items;
  return safeIcons(items.filter((item) => !isRecord(item) || !isExecutable(String(item[key]))));
}

function safeParts(parts: unknown, workspace: string): unknown {
  if (Array.isArray(parts)) return parts.map((part) => (isRecord(part) ? safePart(part, workspace) : part));
  return isRecord(parts) ? safePart(parts, workspace) : parts;
}

/** Puts a text in place of a link that the client must not open. */
function safePart(part: Json, workspace: string): Json {
  const { type, resource } = part;
  if (type === 'resource_link' && typeof part.uri === 'string') {
    // Clients keep addresses, so known secrets are always masked in them.
    const link = maskKnownValue(part) as Json & { uri: string };
    const { uri, name, title, description } = link;
    const shown = visibleData(
      Object.fromEntries(Object.entries({ name, title, description }).filter(([, text]) => text)),
    );
    if (isLinkable(uri, workspace)) return safeIcons([{ ...link, ...shown }])[0] as Json;
    return { type: 'text', text: visibleText(`link: ${typeof link.name === 'string' ? link.name : ''} <${link.uri}>`) };
  }
  if (type !== 'resource' || !isRecord(resource) || !isExecutable(String(resource.uri))) return part;
  return {
    type: 'text',
    text: typeof resource.text === 'string' ? resource.text : '(a file without a usable address)',
  };
}
