import { INVALID_PARAMS } from '../../../errors/rpcCodes.ts';
import { RpcError } from '../../../errors/rpcError.ts';
import { asksForSecret } from '../../../secrets/asksForSecret.ts';
import { knownSecrets, scrubSecrets } from '../../../secrets/mask.ts';
import { secretName } from '../../../secrets/names.ts';
import { scrubValue } from '../../../secrets/scrubValue.ts';
import { quoted, shortened } from '../../../text/porcelain.ts';
import { visibleText } from '../../../text/visibleText.ts';
import { SCAN_RULES } from '../../../trust/scan/finding.ts';
import { scanText } from '../../../trust/scan/scan.ts';

type Json = Record<string, unknown>;

/** Server that asks. A server on this machine may send the user to an address of this machine. */
export interface AskingServer {
  name: string;
  isLocal: boolean;
}

const MESSAGE_CHARS = 600;
const TITLE_CHARS = 100;
const DESCRIPTION_CHARS = 300;
const CHOICE_CHARS = 200;
const URL_CHARS = 2_048;
/** A longer text is refused, because a cut before masking could halve a secret. */
const MAX_TEXT_CHARS = 20_000;
const MAX_FIELDS = 30;
const MAX_CHOICES = 200;
const MAX_SAMPLING_CHARS = 200_000;
const MAX_SAMPLED_TOKENS = 4_096;
const QUOTE_CHARS = 120;

/**
 * Makes the question that the user sees from a server's `elicitation/create`: it names the server, contains nothing
 * hidden, no link and no secret, and asks for none (M6.5). Everything that MCP does not declare is left out.
 */
export function elicitation(server: AskingServer, params: Json): Json {
  const { mode = 'form', message, elicitationId, requestedSchema } = params;
  const words = typeof message === 'string' ? message : '';
  if (mode === 'url') {
    harmless('elicitation', words);
    const url = webAddress(params.url, server);
    return {
      mode,
      message: asked(server, `open ${url.host}. ${plain(words, MESSAGE_CHARS)}`),
      url: url.href,
      elicitationId: exact(elicitationId, 'elicitationId'),
    };
  }
  const schema = form(requestedSchema);
  harmless('elicitation', [words, ...textsOf(schema)].join('\n'));
  const isFree = Object.values(schema.properties).some(isFreeField);
  if (isFree && asksForSecret(words)) throw refused('Its message asks for a secret. Send the user to a URL instead');
  return {
    ...(params.mode === undefined ? {} : { mode }),
    message: asked(server, plain(words, MESSAGE_CHARS)),
    requestedSchema: schema,
  };
}

/** Makes the request that a client's model receives from a server's `sampling/createMessage` (M6.6). */
export function sampling(server: AskingServer, params: Json): Json {
  const { messages, maxTokens, systemPrompt } = params;
  if (!Array.isArray(messages)) throw refused('"messages" must be a list');
  if (!messages.every((one) => ['user', 'assistant'].includes(objectOf(one).role as string))) {
    throw refused('Each message must have the role "user" or "assistant"');
  }
  const { temperature, stopSequences, modelPreferences, tools, toolChoice } = params;
  const text = JSON.stringify({
    ...{ messages, temperature, stopSequences, modelPreferences, tools, toolChoice },
    ...(typeof systemPrompt === 'string' ? { systemPrompt } : {}),
  });
  if (text.length > MAX_SAMPLING_CHARS) throw refused(`Its request is longer than ${MAX_SAMPLING_CHARS} characters`);
  harmless('sampling', textsOf(JSON.parse(text)).join('\n'));
  const request = visible(scrubValue(JSON.parse(text))) as Json;
  const introduction = `The MCP server ${named(server)} sent this request. Neither the user nor Waygate wrote it.`;
  return {
    ...request,
    systemPrompt: [introduction, ...(request.systemPrompt === undefined ? [] : [request.systemPrompt])].join('\n\n'),
    includeContext: 'none',
    maxTokens: Math.min(
      typeof maxTokens === 'number' && maxTokens > 0 ? maxTokens : MAX_SAMPLED_TOKENS,
      MAX_SAMPLED_TOKENS,
    ),
  };
}

/** Makes the `data` of an error that sends the user to URLs first (MCP 2025-11-25, URL mode). */
export function requiredElicitations(server: AskingServer, data: unknown, limit: number): { elicitations: Json[] } {
  const { elicitations } = (data ?? {}) as { elicitations?: unknown };
  const given = Array.isArray(elicitations) ? (elicitations as readonly unknown[]) : [];
  return {
    elicitations: given.slice(0, limit).map((one) => elicitation(server, { ...(one as Json | null), mode: 'url' })),
  };
}

export function refused(why: string): RpcError {
  return new RpcError(INVALID_PARAMS, `Waygate did not forward this question. ${why}.`);
}

/** Refuses a text that reads like an attack (T1.14). Hidden characters are shown instead. */
function harmless(kind: 'elicitation' | 'sampling', text: string): void {
  const hard = scanText(kind, text).find(({ tier, rule }) => tier === 'hard' && rule !== 'H1');
  if (hard)
    throw refused(`Its text reads like an attack (${SCAN_RULES[hard.rule]}: ${quoted(hard.quote, QUOTE_CHARS)})`);
}

/** Returns all texts and keys: a model reads the names of arguments as well. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  return value !== null && typeof value === 'object' ? Object.entries(value).flatMap(textsOf) : [];
}

function named({ name }: AskingServer): string {
  return JSON.stringify(plain(name, TITLE_CHARS));
}

function asked(server: AskingServer, words: string): string {
  return shortened(`Server ${named(server)} asks: ${words}`, MESSAGE_CHARS);
}

/** Returns a foreign text as one line, masked, without hidden characters and Markdown links. */
function plain(text: string, limit: number): string {
  if (text.length > MAX_TEXT_CHARS) throw refused(`One of its texts is longer than ${MAX_TEXT_CHARS} characters`);
  const shown = visibleText(scrubSecrets(text)).replace(/\s+/gu, ' ').trim();
  return shortened(shown.replace(/\](?=[([:])/g, '] ').replace(/<(?=[\p{L}/!?])/gu, '< '), limit);
}

/** Returns a text that the server gets back, and which therefore cannot be changed. */
function exact(value: unknown, what: string): string {
  if (typeof value === 'string' && value.length <= CHOICE_CHARS && plain(value, CHOICE_CHARS) === value) return value;
  throw refused(`A ${what} must be a text of one line without hidden characters, links and secrets`);
}

function webAddress(given: unknown, { isLocal }: AskingServer): URL {
  const text = typeof given === 'string' && given.length <= URL_CHARS && visibleText(given) === given ? given : '';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url?.protocol === 'https:' || (isLocal && url?.protocol === 'http:' && isLoopback(url.hostname));
  if (!url || !isWeb) throw refused('Its URL must begin with https://');
  if (url.username || url.password) throw refused('Its URL must not contain a user name or a password');
  // Signed addresses look like secrets, so only values that were given to a server count.
  if (!knownSecrets.find(text).next().done || !knownSecrets.find(decoded(text)).next().done) {
    throw refused('Its URL contains a secret');
  }
  return url;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

function form(given: unknown): { type: 'object'; properties: Record<string, Json>; required?: string[] } {
  const { properties, required } = objectOf(given);
  const fields = Object.entries(objectOf(properties));
  if (fields.length > MAX_FIELDS) throw refused(`Its form has more than ${MAX_FIELDS} fields`);
  const shown = Object.fromEntries(
    fields.map(([name, one]) => [exact(name, 'field name'), field(name, objectOf(one))]),
  );
  const needed = Array.isArray(required) ? required.filter((name) => typeof name === 'string' && name in shown) : [];
  return { type: 'object', properties: shown, ...(needed.length > 0 ? { required: needed } : {}) };
}

/** Keywords with numbers or flags, which carry no words. */
const NUMERIC = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'] as const;
const TYPES = ['string', 'number', 'integer', 'boolean', 'array'];
const FORMATS = ['email', 'uri', 'date', 'date-time'];

/** Copies the keywords that MCP declares for a field. */
function field(name: string, given: Json): Json {
  const { type, title, description, format, items, enumNames } = given;
  const words = [title, description, format].filter((text) => typeof text === 'string') as string[];
  if (isFreeField(given) && (secretName(name) || [name, ...words, words.join(' ')].some(asksForSecret))) {
    const why = 'asks for a secret. MCP forbids that in a form: send the user to a URL instead';
    throw refused(`The field ${quoted(plain(name, TITLE_CHARS))} ${why}`);
  }
  const numbers = NUMERIC.filter((key) => typeof given[key] === 'number').map((key) => [key, given[key]]);
  return {
    ...(TYPES.includes(type as string) ? { type } : {}),
    ...(typeof title === 'string' ? { title: plain(title, TITLE_CHARS) } : {}),
    ...(typeof description === 'string' ? { description: plain(description, DESCRIPTION_CHARS) } : {}),
    ...(FORMATS.includes(format as string) ? { format } : {}),
    ...Object.fromEntries(numbers),
    ...(given.default === undefined ? {} : { default: suggested(given.default) }),
    ...choices(given),
    ...(Array.isArray(enumNames)
      ? { enumNames: bounded(enumNames).map((one) => plain(String(one), CHOICE_CHARS)) }
      : {}),
    ...(type === 'array' ? { items: { type: 'string', ...choices(objectOf(items)) } } : {}),
  };
}

/** Returns whether the user can type anything into a field: into each but a box to tick, and a list of choices. */
function isFreeField({ type, items, ...given }: Json): boolean {
  const { enum: values, oneOf, anyOf } = choices(type === 'array' ? objectOf(items) : given);
  return type !== 'boolean' && ![values, oneOf, anyOf].some((list) => Array.isArray(list) && list.length > 0);
}

function choices(given: Json): Json {
  const pairs = (list: readonly unknown[]): Json[] =>
    bounded(list).map((one) => {
      const { const: value, title } = objectOf(one);
      return {
        const: exact(value, 'choice'),
        title: plain(typeof title === 'string' ? title : String(value), CHOICE_CHARS),
      };
    });
  return {
    ...(Array.isArray(given.enum) ? { enum: bounded(given.enum).map((one) => exact(one, 'choice')) } : {}),
    ...(Array.isArray(given.oneOf) ? { oneOf: pairs(given.oneOf) } : {}),
    ...(Array.isArray(given.anyOf) ? { anyOf: pairs(given.anyOf) } : {}),
  };
}

function bounded(list: readonly unknown[]): readonly unknown[] {
  if (list.length > MAX_CHOICES) throw refused(`A field of its form has more than ${MAX_CHOICES} choices`);
  return list;
}

function suggested(value: unknown): unknown {
  if (typeof value === 'string') return value === '' ? value : exact(value, 'default');
  if (Array.isArray(value)) return bounded(value).map((one) => exact(one, 'default'));
  return typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

/** Shows the hidden characters of every text in a value. */
function visible(value: unknown): unknown {
  if (typeof value === 'string') return visibleText(value);
  if (Array.isArray(value)) return value.map(visible);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, visible(member)]));
}
