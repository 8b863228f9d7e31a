import { GatewayError } from '../ops/gatewayError.ts';
import { type ArtifactStore, WORKSPACE_OWNER } from './artifactStore.ts';
import { scrubSecrets } from './secrets.ts';
import { type SelectorInput, select } from './selectors.ts';
import { visibleText } from './visibleText.ts';

/** A part of an artifact: as text for a model, and as data for `render=json`. */
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
}

export interface ViewOptions {
  owners?: readonly string[];
  maskSecrets?: boolean;
}

/** `tool_view` (000 §4.2). Throws a GatewayError that carries the handle as its path (000 §3.4). */
export async function viewArtifact(
  store: ArtifactStore,
  handle: string,
  selector: SelectorInput,
  { owners = [WORKSPACE_OWNER], maskSecrets = false }: ViewOptions = {},
): Promise<ArtifactView> {
  const reader = await store.open(handle, owners);
  if (!reader) {
    const message = `There is no artifact ${JSON.stringify(handle.slice(0, 120))}; it may have expired: run the call again for a new handle.`;
    throw new GatewayError('VIEW_FAILED', message, { path: handle });
  }
  try {
    const { text, place, next } = await select(reader, selector);
    const shown = visibleText(maskSecrets ? scrubSecrets(text) : text);
    const notes = [...(place ? [`[${place}]`] : []), ...(next ? [`next: ${viewCall(handle, next)}`] : [])];
    const { mediaType, size } = reader.info;
    return {
      text: [...(shown || notes.length === 0 ? [shown] : []), ...notes].join('\n'),
      data: {
        handle,
        media_type: mediaType,
        size_bytes: size,
        text: shown,
        ...(place ? { place } : {}),
        ...(next ? { next } : {}),
      },
    };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { code, message, details } = error;
    throw new GatewayError(code, message, { path: handle, ...(details ? { details } : {}) });
  } finally {
    await reader.close();
  }
}

/** The arguments of a `tool_view`, as a model may copy them. */
export function viewCall(handle: string, selector: SelectorInput): string {
  return `tool_view ${visibleText(JSON.stringify({ handle, selector }))}`;
}
