import { countTokens } from '../catalog/tokenizer/tokens.ts';
import { scrubSecretChunks, scrubSecrets } from '../secrets/mask.ts';
import { scrubValue } from '../secrets/scrubValue.ts';
import { LongText } from '../text/longText.ts';
import { visibleText } from '../text/visibleText.ts';
import type { ArtifactStore } from './artifacts/artifactStore.ts';
import { type KeptCall, type KeptParts, keepNamed, PartKeeper } from './artifacts/partKeeper.ts';
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
import type { PartContent } from './envelope/partContent.ts';
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

export interface AdmittedCall extends KeptCall {
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
  /** Returns the structured content of the server, unless it is too large for an answer. */
  structured(): unknown;
  /** Makes the envelope for `render=json`, with its statistics, on demand. */
  envelope(): Promise<ResultEnvelope>;
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
/** Length of a sample that suffices to estimate tokens. */
const SUMMARY_CHARS = 4 * 1024;
/** Size of structured content up to which an answer is filled with it. */
const MAX_STRUCTURE_CHARS = 256 * 1024;
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
    const limit = Math.min(shownChars, MAX_SHOWN_CHARS);
    // `tool_view` must not show of a failed result what the failure itself hides.
    const keeper = new PartKeeper(this.#store, maskOnDisk || (isMasked && isError), call);
    const kept = await keepNamed(read, keeper, call, limit);
    const { parts, notes, modelText } = relayedParts(result.content, read.binaries, kept.handles, {
      budget: this.#options.mediaBudget ?? MEDIA_BUDGET_BYTES,
      workspace: this.#options.workspace,
    });
    const readable = modelText ?? kept.text;
    const structure = read.binaries.find(({ kind }) => kind === 'structured')?.content;
    const isPartial = !isError && keeper.faults.length > 0;
    const source = sourceOf(call.toolId);
    const answer = await answerText({
      text: isMasked && readable ? masked(readable, call.source?.server) : readable,
      label: isError ? `Error ${call.errorCode ?? 'UPSTREAM_ERROR'}` : isPartial ? 'partial' : 'ok',
      source,
      handle: kept.textHandle,
      notes: isMasked ? notes.map((note) => scrubSecrets(note)) : notes,
      shownChars: limit,
    });
    const review = this.#options.review?.(answer.shown, source);
    // JSON has no fence, so its provenance has the note.
    const provenance = { ...call.provenance, ...(review && { trust_note: review.note }) };
    // A handle in an answer must survive the end of this process.
    const faults = [...keeper.faults, ...(await keeper.saved())];
    return {
      isError,
      text: [answer.text, ...(review ? [review.note] : []), ...faults].join('\n'),
      parts: isMasked ? parts.map((part) => maskedPart(part, call.source?.server)) : parts,
      summary: { ...summaryOf(read, keeper.refs, isPartial, isMasked), findings: review?.rules ?? [] },
      structured: () => structuredOf(structure, call.source?.server, isMasked),
      envelope: envelopeLater(read, kept, keeper, { ...call, provenance }, isMasked),
    };
  }
}

/** Whether the setting `artifacts.maskSecrets` masks a result of this kind. */
export function masksResult(setting: 'errors' | 'always' | 'never', isError: boolean): boolean {
  return setting === 'always' || (setting === 'errors' && isError);
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

/** Stores what the envelope refers to. */
function envelopeLater(
  { isError, annotations, fullText }: ResultParts,
  kept: KeptParts,
  keeper: PartKeeper,
  { toolId, upstreamName, provenance }: AdmittedCall,
  isMasked: boolean,
): () => Promise<ResultEnvelope> {
  return async () => {
    const refs = await kept.all();
    await keeper.saved();
    const beginning = beginningOf(fullText);
    const { summary, facts } = statementsOf(isMasked ? scrubSecrets(beginning) : beginning);
    const visible = { summary: visibleText(summary), facts: facts.map(visibleText) };
    const envelope = envelopeOf({ isError, annotations }, upstreamName, refs, visible);
    return {
      ...envelope,
      status: !isError && keeper.faults.length > 0 ? 'partial' : envelope.status,
      provenance: { ...envelope.provenance, tool_id: toolId, ...provenance },
      firewall_stats: statsOf(beginning, fullText.length, summary, await kept.textHandle()),
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

/** Returns structured content, unless it is missing or an answer has no room for it. */
function structuredOf(content: PartContent | undefined, from: string | undefined, isMasked: boolean): unknown {
  if (content?.kind !== 'json') return undefined;
  let chars = 0;
  for (const chunk of pythonJsonChunks(content.value)) {
    chars += chunk.length;
    if (chars > MAX_STRUCTURE_CHARS) return undefined;
  }
  return isMasked ? scrubValue(content.value, from) : content.value;
}

/** Masks before any cut, because half a secret is still a secret. */
function masked(readable: Readable, from: string | undefined): LongText {
  const chunks = 'value' in readable ? pythonJsonChunks(readable.value) : readable.chunks();
  return new LongText([...scrubSecretChunks(chunks, from)], '');
}
