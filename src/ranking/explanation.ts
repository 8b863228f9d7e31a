/** Why a query brings what it brings, as a person is told: on the control channel too, so this knows no other file. */

/** One thing that speaks for (or against) a tool; a hit's contributions add up to its score. */
export interface Contribution {
  /** A word, a meaning, a signal of the ranking, "variant or sibling" or "rounding". */
  from: string;
  /** The word, the concept, or what the signal saw. */
  what: string;
  /** For a word: where the tool has it. */
  fields?: readonly string[];
  amount: number;
}

export interface ExplainedHit {
  toolId: string;
  score: number;
  contributions: readonly Contribution[];
}

export interface RankExplanation {
  query: string;
  confidence: 'good' | 'weak' | 'none';
  /** The query as it was understood. */
  words: readonly { word: string; known: boolean; stop: boolean }[];
  concepts: readonly { asked: string; standsFor: readonly string[] }[];
  intent: string;
  hits: readonly ExplainedHit[];
}
