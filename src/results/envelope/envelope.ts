import { type LongText, wholeCut } from '../../text/longText.ts';
import type { ResultParts } from './resultParts.ts';

/** Reference to a stored artifact, as the envelope lists it (M2.1). */
export interface ArtifactRef {
  handle: string;
  media_type: string;
  size_bytes: number;
  label: string;
  /** SHA-256 of the stored bytes. */
  content_hash?: string;
}

export interface ResultEnvelope {
  status: 'ok' | 'partial' | 'error';
  summary: string;
  facts: string[];
  artifacts: ArtifactRef[];
  views: never[];
  provenance: Record<string, unknown>;
  firewall_stats?: FirewallStats;
}

export interface FirewallStats {
  triggered: boolean;
  strategy: 'summary' | 'passthrough';
  threshold_chars: number;
  original_chars: number;
  original_tokens: number;
  summary_chars: number;
  summary_tokens: number;
  artifact_ref: string | null;
  summarized_by_llm: false;
  llm_provider: null;
}

const SUMMARY_CHARS = 500;
const FACT_CHARS = 200;
const MAX_FACTS = 20;
/** Part of a text from which summary and facts are taken (M2.4). */
const STATEMENT_HORIZON_CHARS = 256 * 1024;

export function envelopeOf(
  { isError, annotations }: Pick<ResultParts, 'isError' | 'annotations'>,
  toolName: string,
  artifacts: ArtifactRef[],
  { summary, facts }: { summary: string; facts: string[] },
): ResultEnvelope {
  return {
    status: isError ? 'error' : 'ok',
    summary,
    facts,
    artifacts,
    views: [],
    provenance: {
      tool: toolName,
      protocol: 'mcp',
      ...(annotations.length > 0 ? { content_annotations: annotations } : {}),
    },
  };
}

/** Returns enough of a text for its statements. Copies a long text, since a slice would keep the whole in memory. */
export function beginningOf(text: LongText): string {
  const beginning = text.head(STATEMENT_HORIZON_CHARS);
  if (text.length <= STATEMENT_HORIZON_CHARS) return beginning;
  return Buffer.from(beginning, 'utf16le').toString('utf16le');
}

/** Returns the summary and the facts of a text (M2.4). */
export function statementsOf(text: string): { summary: string; facts: string[] } {
  return { summary: text.slice(0, wholeCut(text, Math.min(SUMMARY_CHARS, text.length))), facts: factsOf(text) };
}

/** Returns short lines with a colon (M2.4). */
function factsOf(text: string): string[] {
  const facts: string[] = [];
  for (let start = 0; start <= text.length && facts.length < MAX_FACTS; ) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(start, end).trim();
    if (line.includes(':') && line.length < FACT_CHARS) facts.push(line);
    start = end + 1;
  }
  return facts;
}
