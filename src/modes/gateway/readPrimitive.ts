import { isAbsolute, sep } from 'node:path';
import { readError } from '../../calls/pipeline/readRequest.ts';
import { argumentError } from '../../calls/validation/argumentError.ts';
import type { OfferedPrompt } from '../../catalog/primitives/primitiveCatalog.ts';
import { variablesOf } from '../../catalog/primitives/uriTemplate.ts';
import type { CatalogTool } from '../../catalog/types.ts';
import { GatewayError, type GatewayErrorCode } from '../../errors/gatewayError.ts';
import { isRecord } from '../../lib/isRecord.ts';
import type { CallContext } from '../../mcp/session/sessionMode.ts';
import type { AdmittedResult } from '../../results/firewall.ts';
import { meantBy } from '../../text/nearest.ts';
import { localPath } from '../../text/normalise.ts';
import { oneLine, quoted, shortened } from '../../text/porcelain.ts';
import { asked, authorized, found, type PrimitivePorts } from '../primitives/primitivePorts.ts';
import type { PrimitiveView } from '../primitives/primitiveView.ts';
import type { ResourceTarget } from '../primitives/resourceDirectory.ts';
import { argsInvalid, type CheckedArguments, renderMode } from '../shared/arguments.ts';
import { type CallEvent, completedEvent, ofTool, UNKNOWN, wasDispatched } from '../shared/callEvent.ts';
import { meantChoice } from '../shared/chosenTool.ts';
import { type GatewayTool, PROMPT_GET, RESOURCE_READ } from '../shared/gatewayTools.ts';
import type { Answer, FailedCall, RunnableTool } from '../shared/modeContext.ts';

type Json = Record<string, unknown>;
const FILE_URI = /^file:/i;

/** Runs `resource_read` (G10.5): by id, or by address, which a template needs. */
export const resourceRead: RunnableTool<'resource_read'> = {
  ...RESOURCE_READ,
  run: async ({ args, context: { primitives }, call, onCorrection }) => {
    const given = (args.resource_id as string).trim();
    const wanted = await found(primitives, call.signal, (view) => wantedResource(given, view, primitives));
    if (!wanted) throw unknown('RESOURCE_NOT_FOUND', 'resource', given, primitives.view().resources.catalog.tools);
    const { choice, uri } = wanted;
    if (wanted.isFile) onCorrection({ rule: 'file_uri', from: shortened(given, 128), to: uri });
    else if (wanted.isMeant) onCorrection({ rule: 'tool_id', from: shortened(given, 128), to: choice.id });
    const result = await ask(primitives, choice, 'resources/read', { uri }, call);
    const admitted = await primitives.firewall(resourceAsResult(result), { id: choice.id, name: uri, source: choice });
    const isListed = primitives.view().resource(choice.id) !== undefined;
    return answerOf(RESOURCE_READ, admitted, args, isListed ? choice : undefined);
  },
  failed,
};

/** Runs `prompt_get` (G10.5). The prompt's own declaration validates the arguments. */
export const promptGet: RunnableTool<'prompt_get'> = {
  ...PROMPT_GET,
  run: async ({ args, context, call, onCorrection }) => {
    const { primitives } = context;
    const given = (args.prompt_id as string).trim();
    const wanted = await found(primitives, call.signal, (view) => {
      const choice = meantChoice(given, view.prompts.catalog);
      return choice && { prompt: view.prompt(choice.id) as OfferedPrompt, choice };
    });
    if (!wanted) throw unknown('PROMPT_NOT_FOUND', 'prompt', given, primitives.view().prompts.catalog.tools);
    const { prompt, choice } = wanted;
    if (choice.id !== given) onCorrection({ rule: 'tool_id', from: shortened(given, 128), to: choice.id });
    const filled = args.args ?? {};
    if (typeof filled !== 'object' || filled === null || Array.isArray(filled)) {
      throw argsInvalid(`"args" of prompt_get must be an object: {"name": "text"}.`, ['args']);
    }
    const verdict = await context.calls.validator.validate(prompt.argumentsSchema, filled as Json);
    if (verdict.kind === 'invalid' || verdict.kind === 'bad_schema') {
      const subject = { ...choice, inputSchema: prompt.argumentsSchema };
      throw argumentError(subject, verdict, filled, primitives.scrubSecrets);
    }
    const result = await ask(primitives, choice, 'prompts/get', { name: prompt.name, arguments: filled }, call);
    const admitted = await primitives.firewall(promptAsResult(result), {
      ...{ id: prompt.id, name: prompt.name },
      source: choice,
    });
    return answerOf(PROMPT_GET, admitted, args, choice);
  },
  failed,
};

function failed({ error }: FailedCall): Partial<CallEvent> {
  return { dispatched: wasDispatched(error) };
}

async function ask(
  ports: PrimitivePorts,
  choice: CatalogTool,
  method: string,
  params: Json,
  call: CallContext,
): Promise<Json> {
  await authorized(ports, choice, call, params);
  const upstream = ports.upstream(choice.server);
  if (!upstream) {
    const message = `The server ${choice.server} has left the configuration. Browse again.`;
    throw new GatewayError('UPSTREAM_UNAVAILABLE', message, { path: choice.id, retryable: false });
  }
  try {
    return await asked(ports, upstream, method, params, call);
  } catch (error) {
    throw readError(error, choice, ports.scrubSecrets);
  }
}

function wantedResource(
  given: string,
  view: PrimitiveView,
  ports: PrimitivePorts,
): { choice: CatalogTool; uri: string; isFile?: boolean; isMeant?: boolean } | undefined {
  const choice = meantChoice(given, view.resources.catalog);
  const listed = choice && view.resource(choice.id);
  if (listed?.isTemplate) throw unfilled(listed.uri);
  if (listed) return { choice, uri: listed.uri, isMeant: choice.id !== given };
  const file = listedFile(given, view);
  if (file !== undefined) {
    const target = addressed(file, view, ports) as ResourceTarget;
    return { choice: view.choiceAt(target), uri: target.uri, isFile: true };
  }
  const target = given.includes(':') && !given.startsWith('resource::') ? addressed(given, view, ports) : undefined;
  if (!target) return undefined;
  const addressee = view.choiceAt(target);
  const template = view.resource(addressee.id);
  if (template?.isTemplate && template.uri === target.uri) throw unfilled(target.uri);
  return { choice: addressee, uri: target.uri };
}

/** Returns the address of the only listed resource that is this file, by its path or another form of its URI. */
function listedFile(given: string, { catalog }: PrimitiveView): string | undefined {
  const path = isAbsolute(given) || FILE_URI.test(given) ? localPath(given, sep) : undefined;
  if (path === undefined) return undefined;
  const same = catalog.resources.filter(
    ({ uri, isTemplate }) => !isTemplate && FILE_URI.test(uri) && localPath(uri, sep) === path,
  );
  const [address, ...others] = new Set(same.map(({ uri }) => uri));
  return address === given || others.length > 0 ? undefined : address;
}

function addressed(address: string, view: PrimitiveView, ports: PrimitivePorts) {
  const target = view.resourceDirectory.resolve(address, ports.linkedServers);
  if (target === undefined || 'server' in target) return target;
  const message = `Several servers have this resource. Give one of these as "resource_id": ${target.instead.join(' ')}`;
  throw new GatewayError('ARGS_INVALID', message, { path: address, details: { instead: target.instead } });
}

function unfilled(template: string): GatewayError {
  const variables = variablesOf(template).join(', ');
  const message = `This is a template: replace ${variables || 'its parts'} in ${oneLine(template, 120)} and give the address as "resource_id".`;
  return new GatewayError('ARGS_INVALID', message, { path: template, details: { template } });
}

function unknown(
  code: Extract<GatewayErrorCode, 'RESOURCE_NOT_FOUND' | 'PROMPT_NOT_FOUND'>,
  noun: string,
  given: string,
  choices: readonly CatalogTool[],
): GatewayError {
  const stems = choices.map(({ id }) => withoutHash(id));
  const nearest = meantBy(withoutHash(given), stems);
  const meant = nearest && choices[stems.indexOf(nearest)]?.id;
  const remedy = meant ? `Did you mean "${meant}"?` : `Find its id with ${noun}_browse.`;
  return new GatewayError(code, `There is no ${noun} ${quoted(given, 100)}. ${remedy}`, {
    path: given,
    ...(meant ? { details: { nearest: meant } } : {}),
  });
}

/** Removes the hash, which users forget or copy from an earlier list and never mistype. */
function withoutHash(id: string): string {
  return id.replace(/#[0-9a-f]{8}$/, '');
}

/** Makes the answer. The event names no tool for an address that nobody lists, because the caller gave it. */
async function answerOf(
  declaration: GatewayTool,
  { text, parts, isError, envelope, summary }: AdmittedResult,
  args: CheckedArguments,
  choice: CatalogTool | undefined,
): Promise<Answer> {
  const event = completedEvent(declaration, {
    ...(choice ? ofTool(choice) : { toolId: UNKNOWN }),
    dispatched: true,
    attributes: (meter) => ({
      raw_chars: summary.chars,
      raw_tokens: meter.countScaled(summary.beginning, summary.chars),
      compact_chars: text.length,
      compact_tokens: meter.count(text),
      artifact_count: summary.artifacts.length,
      ...(summary.findings.length > 0 && { result_findings: summary.findings }),
      // A handle begins with the name of its origin.
      artifact_refs: choice ? summary.artifacts.map((artifact) => artifact.handle) : [],
    }),
  });
  // The envelope counts tokens, so it is made only when it is asked for.
  return { text, data: renderMode(args) === 'json' ? await envelope() : {}, isError, media: parts, event };
}

/**
 * Converts the contents of a resource to a tool result with embedded resources (G10.5): the text is shown, the bytes are
 * stored.
 */
export function resourceAsResult(read: Readonly<Json>): Json {
  const contents = Array.isArray(read.contents) ? (read.contents as unknown[]) : [];
  return { content: contents.map((resource) => (isRecord(resource) ? { type: 'resource', resource } : resource)) };
}

/** Converts a rendered prompt to a tool result (G10.5): its messages in order, each under its role. */
export function promptAsResult(prompt: Readonly<Json>): Json {
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
