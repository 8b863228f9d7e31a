import { scrubSecrets } from '../../secrets/mask.ts';
import { LongText } from '../../text/longText.ts';
import { oneLine } from '../../text/porcelain.ts';
import type { Readable } from '../digest/digest.ts';
import type { ArtifactRef } from '../envelope/envelope.ts';
import { contentSize, maskedContent, type PartContent, textContent } from '../envelope/partContent.ts';
import { pythonJsonChunks } from '../envelope/pythonForm.ts';
import type { BinaryPart, ResultParts } from '../envelope/resultParts.ts';
import type { ArtifactInfo, ArtifactSource } from './artifactFile.ts';
import { type ArtifactDraft, ArtifactError, type ArtifactStore, WORKSPACE_OWNER } from './artifactStore.ts';

/** Call whose result is kept. */
export interface KeptCall {
  toolId: string;
  /** Raw name of the tool. */
  upstreamName: string;
  /** The tool, resource or prompt itself: the user's rules about views go by it. */
  source?: ArtifactSource | undefined;
  /** Owner of the artifacts. */
  owner?: string;
}

/** Size up to which an artifact is in memory until it is written. The store streams larger ones to disk. */
const HELD_CHARS = 256 * 1024;
export interface KeptParts {
  /** Handles of the parts that notes name, in the order of the binary parts. */
  handles: readonly (string | undefined)[];
  /** Readable content, and its handle. */
  text: Readable | undefined;
  textHandle: () => Promise<string | undefined>;
  /** Stores every part, the text last. */
  all: () => Promise<ArtifactRef[]>;
}

/** Stores the parts that the answer names. A part that it shows, or does not name, is stored for the envelope only (M3.1). */
export async function keepNamed(
  { binaries, odd, text, fullText }: ResultParts,
  keeper: PartKeeper,
  { toolId, upstreamName }: KeptCall,
  shownChars: number,
): Promise<KeptParts> {
  const keepBinary = async ({ kind, content, mediaType, shownType = mediaType, label }: BinaryPart) => {
    const ref = await keeper.keep(kind, content, mediaType, label);
    return ref && { ...ref, media_type: shownType };
  };
  const handles: (string | undefined)[] = [];
  for (const binary of binaries) handles.push(isNamed(binary) ? (await keepBinary(binary))?.handle : undefined);

  // Structure without a text is the readable content.
  const structured = text ? undefined : binaries.find(({ kind }) => kind === 'structured');
  const hasText = text !== undefined || binaries.length + odd.length === 0;
  const keepText = (): Promise<ArtifactRef | undefined> =>
    keeper.keep('text', textContent(text ?? fullText), 'text/plain', `text result from ${toolId}`);
  const textHandle = async (): Promise<string | undefined> => {
    const ref = structured ? await keepBinary(structured) : hasText ? await keepText() : undefined;
    return ref?.handle;
  };
  const readable = structured ? readableForm(structured.content) : text;
  // The label of the answer depends on whether this succeeds.
  if (readable && !('length' in readable && readable.length <= shownChars)) await textHandle();
  const all = async (): Promise<ArtifactRef[]> => {
    const refs = [];
    for (const binary of binaries) refs.push(await keepBinary(binary));
    const label = `part of no known kind from ${upstreamName}`;
    for (const value of odd) refs.push(await keeper.keep('part', { kind: 'json', value }, 'application/json', label));
    if (hasText) refs.push(await keepText());
    return refs.filter((ref) => ref !== undefined);
  };
  return { handles, text: readable, textHandle, all };
}

/** Stores artifacts of one call, each once. After a failed write only that artifact is missing. */
export class PartKeeper {
  readonly faults: string[] = [];
  /** Artifacts that were stored. */
  readonly refs: ArtifactRef[] = [];
  readonly #store: ArtifactStore;
  readonly #maskOnDisk: boolean;
  readonly #call: KeptCall;
  readonly #kept = new Map<unknown, Promise<ArtifactRef | undefined>>();
  readonly #saves: (() => Promise<void>)[] = [];

  constructor(store: ArtifactStore, maskOnDisk: boolean, call: KeptCall) {
    this.#store = store;
    this.#maskOnDisk = maskOnDisk;
    this.#call = call;
  }

  keep(kind: string, content: PartContent, mediaType: string, label: string): Promise<ArtifactRef | undefined> {
    const identity = content.kind === 'text' ? content.text : content.kind === 'json' ? content.value : content;
    const kept = this.#kept.get(identity) ?? this.#keep(kind, content, mediaType, label);
    this.#kept.set(identity, kept);
    return kept;
  }

  /** Returns the failed writes, once each. */
  async saved(): Promise<string[]> {
    const faults = new Set<string>();
    const failed = (error: Error): unknown => faults.add(`${error.message} It can be read until the gateway restarts.`);
    await Promise.all(this.#saves.map((save) => save().catch(failed)));
    return [...faults];
  }

  async #keep(kind: string, content: PartContent, mediaType: string, label: string): Promise<ArtifactRef | undefined> {
    const { toolId, owner = WORKSPACE_OWNER, source: from } = this.#call;
    const kept = this.#maskOnDisk ? maskedContent(content) : content;
    const hidden = this.#maskOnDisk
      ? { mediaType: scrubSecrets(mediaType), label: scrubSecrets(label) }
      : { mediaType, label };
    const draft: ArtifactDraft = { kind, source: toolId, content: kept, ...hidden, owner, from };
    try {
      const ref = refOf(await this.#stored(draft));
      this.refs.push(ref);
      return ref;
    } catch (error) {
      if (!(error instanceof ArtifactError)) throw error;
      this.faults.push(`The ${oneLine(label, 120)} is not kept. ${error.message}`);
      return undefined;
    }
  }

  async #stored(draft: ArtifactDraft): Promise<ArtifactInfo> {
    const small = smallForm(draft.content);
    if (!small) return this.#store.store(draft);
    const { info, saved } = this.#store.hold({ ...draft, content: small });
    this.#saves.push(saved);
    return info;
  }
}

/** Returns whether the note about a part names its handle. */
function isNamed({ kind, content }: BinaryPart): boolean {
  return kind === 'image' || kind === 'audio' || (kind === 'resource' && content.kind === 'base64');
}

function refOf({ handle, mediaType, size, label, sha256 }: ArtifactInfo): ArtifactRef {
  return { handle, media_type: mediaType, size_bytes: size, label, content_hash: sha256 };
}

/** Returns content below the limit of memory. Serialises JSON up to the limit to find out. */
function smallForm(content: PartContent): PartContent | undefined {
  if (content.kind === 'base64') return content.data.length <= HELD_CHARS ? content : undefined;
  if (content.kind === 'text') return content.text.length <= HELD_CHARS ? content : undefined;
  let text = '';
  for (const chunk of pythonJsonChunks(content.value)) {
    text += chunk;
    if (text.length > HELD_CHARS) return undefined;
  }
  return { kind: 'text', text: new LongText([text]), ...(content.masked ? { masked: true } : {}) };
}

/** Returns the readable form of a structure: its text, or an outline of a long one. */
function readableForm(content: PartContent): Readable | undefined {
  const small = smallForm(content);
  if (small?.kind === 'text') return small.text;
  if (content.kind !== 'json' || typeof content.value !== 'object' || content.value === null) return undefined;
  return { value: content.value, bytes: contentSize(content) };
}
