import { isUtf8 } from 'node:buffer';
import { GatewayError } from '../../errors/gatewayError.ts';
import { scrubSecrets } from '../../secrets/mask.ts';
import { fenced } from '../../text/fence.ts';
import { quoted } from '../../text/porcelain.ts';
import { visibleJson, visibleText } from '../../text/visibleText.ts';
import { type ClientPart, MEDIA_BUDGET_BYTES, mediaKind } from '../envelope/clientParts.ts';
import type { Selection } from '../select/selection.ts';
import { type SelectorInput, select } from '../select/selectors.ts';
import { type ArtifactInfo, measured } from './artifactFile.ts';
import { type ArtifactReader, MemoryReader } from './artifactReader.ts';
import { type ArtifactStore, WORKSPACE_OWNER } from './artifactStore.ts';

/** Part of an artifact: as text for a model, and as data for `render=json`. */
export interface ArtifactView {
  text: string;
  data: {
    handle: string;
    media_type: string;
    size_bytes: number;
    text: string;
    place?: string;
    next?: Readonly<Record<string, unknown>>;
  };
  /** Selected text as the server sent it. */
  shown: string;
  /** The artifact itself, where it is a picture or a sound. */
  parts: readonly ClientPart[];
}

export interface ViewOptions {
  owners?: readonly string[];
  maskSecrets?: boolean;
  /** Resolves if the user's rules allow the view. */
  authorize?: (info: ArtifactInfo) => Promise<void>;
}

/** Runs `tool_view` (G11). Throws a GatewayError with the handle as its path (G4.3). */
export async function viewArtifact(
  store: ArtifactStore,
  handle: string,
  selector: SelectorInput,
  { owners = [WORKSPACE_OWNER], maskSecrets = false, authorize }: ViewOptions = {},
): Promise<ArtifactView> {
  const reader = await store.open(handle, owners);
  if (!reader) {
    const message = `There is no artifact ${quoted(handle, 120)}; it may have expired: run the call again for a new handle.`;
    throw new GatewayError('VIEW_FAILED', message, { path: handle });
  }
  try {
    await authorize?.(reader.info);
    const selection = await select(maskSecrets ? await maskedReader(reader) : reader, selector);
    const kind = mediaKind(reader.info.mediaType);
    return { ...viewOf(selection, reader.info, maskSecrets), parts: kind ? await mediaParts(reader, kind) : [] };
  } catch (error) {
    throw failure(error, handle);
  } finally {
    await reader.close();
  }
}

/** Size up to which an artifact is masked as a whole: a selector may cut a secret in two. */
const MAX_MASKED_BYTES = 16 * 1024 * 1024;

/** Masks an artifact before a selector reads it. A larger one is masked in what the selector returns. */
export async function maskedReader(
  reader: ArtifactReader,
  mask: (text: string) => string = (text) => scrubSecrets(text, reader.info.source?.server),
): Promise<ArtifactReader> {
  const { size } = reader.info;
  const bytes = size > MAX_MASKED_BYTES ? Buffer.alloc(0) : await reader.read(0, size);
  const text = isUtf8(bytes) ? bytes.toString() : '';
  const masked = mask(text);
  if (masked === text) return reader;
  const hidden = Buffer.from(masked);
  return new MemoryReader({ ...reader.info, ...measured(hidden) }, hidden);
}

function viewOf({ text, place, next }: Selection, info: ArtifactInfo, isMasked: boolean): Omit<ArtifactView, 'parts'> {
  const { handle, mediaType, size } = info;
  const readable = isMasked ? scrubSecrets(text) : text;
  const notes = [...(place ? [`[${place}]`] : []), ...(next ? [`next: ${viewCall(handle, next)}`] : [])];
  return {
    shown: readable,
    text: [
      ...(readable || notes.length === 0
        ? [fenced('ok', sourceOf(handle.slice(handle.indexOf(':') + 1)), readable)]
        : []),
      ...notes,
    ].join('\n'),
    data: {
      handle,
      media_type: mediaType,
      size_bytes: size,
      text: visibleText(readable),
      ...(place ? { place } : {}),
      ...(next ? { next } : {}),
    },
  };
}

/** Returns a picture that was too large for its call, within the same budget. */
async function mediaParts(reader: ArtifactReader, type: 'image' | 'audio'): Promise<ClientPart[]> {
  const { size, mediaType: mimeType } = reader.info;
  if (size === 0 || size > MEDIA_BUDGET_BYTES) return [];
  return [{ type, data: (await reader.read(0, size)).toString('base64'), mimeType }];
}

function failure(error: unknown, handle: string): GatewayError {
  if (!(error instanceof GatewayError)) {
    const why = (error as NodeJS.ErrnoException).code ?? (error as Error).name;
    return new GatewayError('VIEW_FAILED', `The artifact could not be read (${why}); run the call again.`, {
      path: handle,
    });
  }
  const { code, message, details } = error;
  return new GatewayError(code, message, { path: handle, ...(details ? { details } : {}) });
}

/** Returns the namespace in the id of a tool, resource or prompt: the server that the result is from. */
export function sourceOf(id: string): string {
  return id.replace(/^(?:resource|prompt)::/, '').replace(/:.*$/s, '');
}

/** Returns the arguments of a `tool_view`, as a model may copy them. */
export function viewCall(handle: string, selector: SelectorInput): string {
  return `tool_view ${visibleJson({ handle, selector })}`;
}
