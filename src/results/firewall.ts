import { countTokens } from '../catalog/tokenizer/tokens.ts';
import { scrubSecretChunks, scrubSecrets } from '../secrets/mask.ts';
import { scrubValue } from '../secrets/scrubValue.ts';
import { LongText } from '../text/longText.ts';
import { oneLine } from '../text/porcelain.ts';
import { visibleText } from '../text/visibleText.ts';
import type { ArtifactInfo, ArtifactSource } from './artifacts/artifactFile.ts';
import { type ArtifactDraft, ArtifactError, type ArtifactStore, WORKSPACE_OWNER } from './artifacts/artifactStore.ts';
import { sourceOf } from './artifacts/viewArtifact.ts';
import type { Readable } from './digest/digest.ts';
import { answerText } from './envelope/answerText.ts';
import { type ClientPart, MEDIA_BUDGET_BYTES, maskedPart, relayedParts } from './envelope/clientParts.ts';
import {
  type ArtifactRef,
  beginningOf,
  envelopeOf,
  type FirewallStats,
  type ResultEnvelope,
  statementsOf,
} from './envelope/envelope.ts';
import { contentSize, maskedContent, type PartContent, textContent } from './envelope/partContent.ts';
import { pythonJsonChunks } from './envelope/pythonForm.ts';
import { type ResultParts, readResult } from './envelope/resultParts.ts';

export interface FirewallSettings {
  /** Length up to which a model sees the whole result, and limit of a digest: 4,000 by default, 7,000 at most. */
  shownChars?: number;
  /** Masking of secrets for the model; by default in errors. */
  maskForModel?: 'errors' | 'always' | 'never';
  /** Masking of secrets on disk; off by default, so that the artifact equals the server's result. */
  maskOnDisk?: boolean;
}

export interface FirewallOptions extends FirewallSettings {
  store: ArtifactStore;
  /** Bytes of images, audio and the like that one result may pass to the client. */
  mediaBudget?: number;
  /** Folder whose files a server may link to; without it, none. */
  workspace?: string;
  /** Looks for attacks in what a model is shown of a result. */
  review?(shown: string, source: string): ResultReview | undefined;
  /** Counts a result with parts of the wrong form. */
  onOddResult?(call: AdmittedCall): void;
}

/** Findings of a scan, and Waygate's note on them. */
export interface ResultReview {
  rules: readonly string[];
  note: string;
}

export interface AdmittedCall {
  toolId: string;
  /** Raw name of the tool. */
  upstreamName: string;
  /** The tool, resource or prompt itself: the user's rules about views go by it. */
  source?: ArtifactSource | undefined;
  /** Owner of the artifacts. */
  owner?: string;
  /** Error code of a failed result, where known. */
  errorCode?: string;
  /** Provenance from the pipeline: `arg_repairs`, `cache_hit` … */
  provenance?: Readonly<Record<string, unknown>>;
}

/** Result that may be shown. */
export interface AdmittedResult {
  isError: boolean;
  /** Porcelain text: below 7,500 characters, with hidden characters escaped. */
  text: string;
  /** Parts that text cannot replace, for clients that can show them. */
  parts: readonly ClientPart[];
  summary: ResultSummary;
  /** Structured content of the server, unless it is too large for an answer. */
  structured?: unknown;
  /** Makes the envelope for `render=json`, with its statistics, on demand. */
  envelope(): ResultEnvelope;
}

/** Facts for statistics, without the rest of the result. */
export interface ResultSummary {
  chars: number;
  /** Beginning of the text, masked like the answer. */
  beginning: string;
  artifacts: readonly { handle: string; size_bytes: number }[];
  partial: boolean;
  /** Rules of the scan with a finding in what is shown. */
  findings: readonly string[];
}

const SHOWN_CHARS = 4_000;
/** Leaves room for the notes beside it below the limit of an answer (M5.4). */
const MAX_SHOWN_CHARS = 7_000;
/** Size up to which an artifact waits in memory for its write. The store streams larger ones to disk. */
const HELD_CHARS = 256 * 1024;
/** Length of a sample that suffices to estimate tokens. */
const SUMMARY_CHARS = 4 * 1024;
/** Length in which tokens are counted; the count of a longer text is scaled. */
const COUNTED_CHARS = 64 * 1024;

/** Processes results of servers: the model gets a bounded text, and the artifacts keep everything (M2, M3). */
export class Firewall {
  readonly #store: ArtifactStore;
  readonly #options: FirewallOptions;
  #settings: FirewallSettings;

  constructor(options: FirewallOptions) {
    this.#store = options.store;
    this.#options = options;
    this.#settings = options;
  }

  /** Puts edited settings in force for the results that arrive from now on. */
  adopt(settings: FirewallSettings): void {
    this.#settings = settings;
  }

  async admit(result: Readonly<Record<string, unknown>>, call: AdmittedCall): Promise<AdmittedResult> {
    const read = readResult(result, call.upstreamName);
    const { isError } = read;
    if (read.odd.length > 0) this.#options.onOddResult?.(call);
    const { shownChars = SHOWN_CHARS, maskForModel = 'errors', maskOnDisk = false } = this.#settings;
    const isMasked = masksResult(maskForModel, isError);
    // `tool_view` must not show of a failed result what the failure itself hides.
    const kept = await this.#keepAll(read, call, maskOnDisk || (isMasked && isError));
    const { parts, notes, modelText } = relayedParts(result.content, read.binaries, kept.handles, {
      budget: this.#options.mediaBudget ?? MEDIA_BUDGET_BYTES,
      workspace: this.#options.workspace,
    });
    const readable = modelText ?? kept.text;
    const structure = structuredOf(read, kept);
    const isPartial = !isError && kept.faults.length > 0;
    const source = sourceOf(call.toolId);
    const answer = await answerText({
      text: isMasked && readable ? masked(readable, call.source?.server) : readable,
      label: isError ? `Error ${call.errorCode ?? 'UPSTREAM_ERROR'}` : isPartial ? 'partial' : 'ok',
      source,
      handle: kept.textHandle,
      notes: isMasked ? notes.map((note) => scrubSecrets(note)) : notes,
      shownChars: Math.min(shownChars, MAX_SHOWN_CHARS),
    });
    const review = this.#options.review?.(answer.shown, source);
    // JSON has no fence, so its provenance has the note.
    const provenance = { ...call.provenance, ...(review && { trust_note: review.note }) };
    // A restart must not lose the parts that the answer leaves out.
    const faults = [...kept.faults, ...(answer.isWhole ? [] : await kept.saved())];
    return {
      isError,
      text: [answer.text, ...(review ? [review.note] : []), ...faults].join('\n'),
      parts: isMasked ? parts.map((part) => maskedPart(part, call.source?.server)) : parts,
      summary: { ...summaryOf(read, kept.refs, isPartial, isMasked), findings: review?.rules ?? [] },
      structured: isMasked ? scrubValue(structure, call.source?.server) : structure,
      envelope: envelopeLater(read, kept, { ...call, provenance }, isPartial, isMasked),
    };
  }

  /** Stores every part as an artifact, the text last (M3.1). */
  async #keepAll(
    { binaries, odd, text, fullText }: ResultParts,
    call: AdmittedCall,
    maskOnDisk: boolean,
  ): Promise<KeptResult> {
    const keeper = new Keeper(this.#store, maskOnDisk, call);
    const refs: ArtifactRef[] = [];
    const handles: (string | undefined)[] = [];
    let readable: Readable | undefined = text;
    let textHandle: string | undefined;
    for (const { kind, content, mediaType, shownType = mediaType, label } of binaries) {
      const ref = await keeper.keep(kind, content, mediaType, label);
      handles.push(ref?.handle);
      if (ref) refs.push({ ...ref, media_type: shownType });
      if (text || kind !== 'structured') continue;
      // Structure without a text is the readable content.
      readable = readableForm(content, ref?.size_bytes);
      textHandle = ref?.handle;
    }
    for (const part of odd) {
      const label = `part of no known kind from ${call.upstreamName}`;
      const ref = await keeper.keep('part', { kind: 'json', value: part }, 'application/json', label);
      if (ref) refs.push(ref);
    }
    if (text || binaries.length + odd.length === 0) {
      const label = `text result from ${call.toolId}`;
      const ref = await keeper.keep('text', textContent(text ?? fullText), 'text/plain', label);
      if (ref) refs.push(ref);
      textHandle = ref?.handle;
    }
    return { refs, handles, text: readable, textHandle, faults: keeper.faults, saved: () => keeper.saved() };
  }
}

/** Whether the setting `artifacts.maskSecrets` masks a result of this kind. */
export function masksResult(setting: 'errors' | 'always' | 'never', isError: boolean): boolean {
  return setting === 'always' || (setting === 'errors' && isError);
}

interface KeptResult {
  refs: ArtifactRef[];
  /** Handles of the binary parts, in order; undefined where the disk refused one. */
  handles: readonly (string | undefined)[];
  /** Readable content, and its handle. */
  text: Readable | undefined;
  textHandle: string | undefined;
  faults: readonly string[];
  saved(): Promise<string[]>;
}

/** Stores the artifacts of one call. After a failed write only that artifact is missing. */
class Keeper {
  readonly faults: string[] = [];
  readonly #store: ArtifactStore;
  readonly #maskOnDisk: boolean;
  readonly #call: AdmittedCall;
  readonly #saves: (() => Promise<void>)[] = [];

  constructor(store: ArtifactStore, maskOnDisk: boolean, call: AdmittedCall) {
    this.#store = store;
    this.#maskOnDisk = maskOnDisk;
    this.#call = call;
  }

  async keep(kind: string, content: PartContent, mediaType: string, label: string): Promise<ArtifactRef | undefined> {
    const { toolId, owner = WORKSPACE_OWNER, source: from } = this.#call;
    const kept = this.#maskOnDisk ? maskedContent(content) : content;
    const hidden = this.#maskOnDisk
      ? { mediaType: scrubSecrets(mediaType), label: scrubSecrets(label) }
      : { mediaType, label };
    const draft: ArtifactDraft = { kind, source: toolId, content: kept, ...hidden, owner, from };
    const small = smallForm(kept);
    if (small) {
      const { info, saved } = this.#store.hold({ ...draft, content: small });
      this.#saves.push(saved);
      return refOf(info);
    }
    try {
      return refOf(await this.#store.store(draft));
    } catch (error) {
      if (!(error instanceof ArtifactError)) throw error;
      this.faults.push(`The ${oneLine(label, 120)} is not kept. ${error.message}`);
      return undefined;
    }
  }

  /** Returns the failed writes, once each. */
  async saved(): Promise<string[]> {
    const faults = new Set<string>();
    for (const save of this.#saves) {
      await save().catch((error: Error) => faults.add(`${error.message} It can be read until the gateway restarts.`));
    }
    return [...faults];
  }
}

function summaryOf(
  { fullText }: ResultParts,
  refs: readonly ArtifactRef[],
  partial: boolean,
  isMasked: boolean,
): Omit<ResultSummary, 'findings'> {
  const head = fullText.head(SUMMARY_CHARS);
  // A slice would keep the whole text in memory.
  const beginning = fullText.length <= SUMMARY_CHARS ? head : Buffer.from(head, 'utf16le').toString('utf16le');
  return {
    chars: fullText.length,
    beginning: isMasked ? scrubSecrets(beginning) : beginning,
    artifacts: refs,
    partial,
  };
}

/** Keeps only the part of the result that the envelope needs, so that a kept answer does not keep 100 MB. */
function envelopeLater(
  { isError, annotations, fullText }: ResultParts,
  { refs, textHandle }: KeptResult,
  { toolId, upstreamName, provenance }: AdmittedCall,
  isPartial: boolean,
  isMasked: boolean,
): () => ResultEnvelope {
  const { length } = fullText;
  const beginning = beginningOf(fullText);
  return () => {
    const { summary, facts } = statementsOf(isMasked ? scrubSecrets(beginning) : beginning);
    const visible = { summary: visibleText(summary), facts: facts.map(visibleText) };
    const envelope = envelopeOf({ isError, annotations }, upstreamName, refs, visible);
    return {
      ...envelope,
      status: isPartial ? 'partial' : envelope.status,
      provenance: { ...envelope.provenance, tool_id: toolId, ...provenance },
      firewall_stats: statsOf(beginning, length, summary, textHandle),
    };
  };
}

function statsOf(beginning: string, length: number, summary: string, handle: string | undefined): FirewallStats {
  const triggered = length > summary.length;
  const counted = beginning.slice(0, COUNTED_CHARS);
  const tokens = countTokens(counted);
  return {
    triggered,
    strategy: triggered ? 'summary' : 'passthrough',
    threshold_chars: 0,
    original_chars: length,
    original_tokens: Math.round((tokens * length) / Math.max(1, counted.length)),
    summary_chars: summary.length,
    summary_tokens: countTokens(summary),
    artifact_ref: triggered ? (handle ?? null) : null,
    summarized_by_llm: false,
    llm_provider: null,
  };
}

function refOf({ handle, mediaType, size, label, sha256 }: ArtifactInfo): ArtifactRef {
  return { handle, media_type: mediaType, size_bytes: size, label, content_hash: sha256 };
}

/** Returns the structured content, unless an answer has no room for it. */
function structuredOf({ binaries }: ResultParts, { refs }: KeptResult): unknown {
  const at = binaries.findIndex(({ kind }) => kind === 'structured');
  const content = binaries[at]?.content;
  const isSmall = (refs[at]?.size_bytes ?? Number.POSITIVE_INFINITY) <= HELD_CHARS;
  return content?.kind === 'json' && isSmall ? content.value : undefined;
}

/** Masks before any cut, because half a secret is still a secret. */
function masked(readable: Readable, from: string | undefined): LongText {
  const chunks = 'value' in readable ? pythonJsonChunks(readable.value) : readable.chunks();
  return new LongText([...scrubSecretChunks(chunks, from)], '');
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
function readableForm(content: PartContent, bytes: number | undefined): Readable | undefined {
  const small = smallForm(content);
  if (small?.kind === 'text') return small.text;
  if (content.kind !== 'json' || typeof content.value !== 'object' || content.value === null) return undefined;
  return { value: content.value, bytes: bytes ?? contentSize(content) };
}
