import { countTokens } from '../catalog/tokens.ts';
import { answerText } from './answerText.ts';
import type { ArtifactInfo } from './artifactFile.ts';
import { type ArtifactDraft, ArtifactError, type ArtifactStore, WORKSPACE_OWNER } from './artifactStore.ts';
import { type ClientPart, MEDIA_BUDGET_BYTES, relayedParts } from './clientParts.ts';
import {
  type ArtifactRef,
  type ConvertedResult,
  type FirewallStats,
  type ResultEnvelope,
  resultToEnvelope,
  STATEMENT_HORIZON_CHARS,
  statementsOf,
} from './envelope.ts';
import { LongText } from './longText.ts';
import { maskedContent, type PartContent, textContent } from './partContent.ts';
import { pythonJson } from './pythonForm.ts';
import { scrubSecretChunks, scrubSecrets } from './secrets.ts';
import { visibleText } from './visibleText.ts';

export interface FirewallOptions {
  store: ArtifactStore;
  /** A result up to this is shown as it is, and a digest takes no more. 4,000 by default, 7,000 at most. */
  shownChars?: number;
  /** How many bytes of images, audio and the like are handed on with one result. */
  mediaBudget?: number;
  /** Secrets on the way to the model: those in errors by default. */
  maskForModel?: 'errors' | 'always' | 'never';
  /** Secrets on the way to the disk: not by default, the artifact is what the server said. */
  maskOnDisk?: boolean;
}

export interface AdmittedCall {
  toolId: string;
  /** The name the server knows the tool by. */
  upstreamName: string;
  /** Who may open what is kept of it. */
  owner?: string;
  /** The code of a failed result, when it was classified. */
  errorCode?: string;
  /** What the pipeline has to tell: `arg_repairs`, `cache_hit` … */
  provenance?: Readonly<Record<string, unknown>>;
}

/** A result that may be shown. */
export interface AdmittedResult {
  isError: boolean;
  /** Porcelain: below 7,500 characters, nothing hidden in it. */
  text: string;
  /** Parts that a text cannot stand for, for clients that can show them. */
  parts: readonly ClientPart[];
  /** For `render=json`; its statistics are made when it is asked for. */
  envelope(): ResultEnvelope;
}

const SHOWN_CHARS = 4_000;
/** With what stands beside it an answer stays below what a client takes (design.md §3). */
const MAX_SHOWN_CHARS = 7_000;
/** What is smaller is held in memory until the disk has it; what is larger is streamed there. */
const HELD_CHARS = 256 * 1024;
/** Tokens of a longer text are counted on its beginning and scaled. */
const COUNTED_CHARS = 64 * 1024;

/** The firewall of 000 §4.2: whatever a server answered, the model gets what it can use, and nothing is lost. */
export class Firewall {
  readonly #store: ArtifactStore;
  readonly #shownChars: number;
  readonly #mediaBudget: number;
  readonly #maskForModel: 'errors' | 'always' | 'never';
  readonly #maskOnDisk: boolean;

  constructor(options: FirewallOptions) {
    this.#store = options.store;
    this.#shownChars = Math.min(options.shownChars ?? SHOWN_CHARS, MAX_SHOWN_CHARS);
    this.#mediaBudget = options.mediaBudget ?? MEDIA_BUDGET_BYTES;
    this.#maskForModel = options.maskForModel ?? 'errors';
    this.#maskOnDisk = options.maskOnDisk ?? false;
  }

  async admit(result: Readonly<Record<string, unknown>>, call: AdmittedCall): Promise<AdmittedResult> {
    const converted = resultToEnvelope(result, call.upstreamName);
    const isError = converted.envelope.status === 'error';
    const isMasked = this.#maskForModel === 'always' || (this.#maskForModel === 'errors' && isError);
    const kept = await this.#keepAll(converted, call);
    const { parts, notes, modelText } = relayedParts(
      result['content'],
      converted.binaries,
      kept.handles,
      this.#mediaBudget,
    );
    const readable = modelText ?? converted.text ?? kept.structuredText;
    const status = !isError && kept.faults.length > 0 ? 'partial' : converted.envelope.status;
    const answer = await answerText({
      text: isMasked && readable ? masked(readable) : readable,
      label: isError ? `Error ${call.errorCode ?? 'UPSTREAM_ERROR'}` : status,
      handle: kept.textHandle,
      notes: isMasked ? notes.map(scrubSecrets) : notes,
      shownChars: this.#shownChars,
    });
    // A restart must not lose what the answer has left out.
    const faults = [...kept.faults, ...(answer.isWhole ? [] : await kept.saved())];
    return {
      isError,
      text: [answer.text, ...faults].join('\n'),
      parts,
      envelope: () => envelopeOf(converted, kept, call, status, isMasked),
    };
  }

  /** Every part becomes an artifact; the text comes last (000 §4.2). */
  async #keepAll(converted: ConvertedResult, call: AdmittedCall): Promise<KeptResult> {
    const { binaries, envelope, odd, text } = converted;
    const keeper = new Keeper(this.#store, this.#maskOnDisk, call);
    const refs: ArtifactRef[] = [];
    const handles: (string | undefined)[] = [];
    for (const [i, binary] of binaries.entries()) {
      const ref = await keeper.keep(binary.kind, binary.content, binary.mediaType, binary.label);
      handles.push(ref?.handle);
      // A link is kept as its address, and named by the type of what it leads to (001).
      if (ref) refs.push({ ...ref, media_type: (envelope.artifacts[i] as ArtifactRef).media_type });
    }
    for (const part of odd) {
      const label = `part of no known kind from ${call.upstreamName}`;
      const ref = await keeper.keep('part', textContent(pythonJson(part)), 'application/json', label);
      if (ref) refs.push(ref);
    }
    const structured = binaries.find(({ kind }) => kind === 'structured');
    let textHandle = structured && handles[binaries.indexOf(structured)];
    if (text || binaries.length + odd.length === 0) {
      const label = `text result from ${call.toolId}`;
      const ref = await keeper.keep('text', textContent(text ?? converted.fullText), 'text/plain', label);
      if (ref) refs.push(ref);
      textHandle = ref?.handle;
    }
    const structuredText = structured?.content.kind === 'text' ? structured.content.text : undefined;
    return { refs, handles, textHandle, structuredText, faults: keeper.faults, saved: () => keeper.saved() };
  }
}

interface KeptResult {
  refs: ArtifactRef[];
  /** Of the binary parts, in their order; undefined where the disk refused one. */
  handles: readonly (string | undefined)[];
  textHandle: string | undefined;
  structuredText: LongText | undefined;
  faults: readonly string[];
  saved(): Promise<string[]>;
}

/** Keeps the artifacts of one call; a disk that refuses one costs that one. */
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
    const { toolId, owner = WORKSPACE_OWNER } = this.#call;
    const kept = this.#maskOnDisk ? maskedContent(content) : content;
    const draft: ArtifactDraft = { kind, source: toolId, content: kept, mediaType, label, owner };
    if (lengthOf(content) <= HELD_CHARS) {
      const { info, saved } = this.#store.hold(draft);
      this.#saves.push(saved);
      return refOf(info);
    }
    try {
      return refOf(await this.#store.store(draft));
    } catch (error) {
      if (!(error instanceof ArtifactError)) throw error;
      this.faults.push(`The ${visibleText(label.slice(0, 120))} is not kept. ${error.message}`);
      return undefined;
    }
  }

  /** What the disk refused, once each. */
  async saved(): Promise<string[]> {
    const faults = new Set<string>();
    for (const save of this.#saves) {
      await save().catch((error: Error) => faults.add(`${error.message} It can be read until the gateway restarts.`));
    }
    return [...faults];
  }
}

function envelopeOf(
  { envelope, fullText }: ConvertedResult,
  { refs, textHandle }: KeptResult,
  { toolId, provenance }: AdmittedCall,
  status: ResultEnvelope['status'],
  isMasked: boolean,
): ResultEnvelope {
  const { summary, facts } = isMasked ? statementsOf(scrubSecrets(fullText.head(STATEMENT_HORIZON_CHARS))) : envelope;
  return {
    ...envelope,
    status,
    summary: visibleText(summary),
    facts: facts.map(visibleText),
    artifacts: refs,
    provenance: { ...envelope.provenance, tool_id: toolId, ...provenance },
    firewall_stats: statsOf(fullText, summary, textHandle),
  };
}

function statsOf(fullText: LongText, summary: string, handle: string | undefined): FirewallStats {
  const triggered = fullText.length > summary.length;
  const counted = fullText.head(COUNTED_CHARS);
  const tokens = countTokens(counted);
  return {
    triggered,
    strategy: triggered ? 'summary' : 'passthrough',
    threshold_chars: 0,
    original_chars: fullText.length,
    original_tokens: Math.round((tokens * fullText.length) / Math.max(1, counted.length)),
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

/** Before anything is cut: half a secret is one still. */
function masked(text: LongText): LongText {
  return new LongText([...scrubSecretChunks(text.chunks())], '');
}

function lengthOf(content: PartContent): number {
  return content.kind === 'text' ? content.text.length : content.data.length;
}
