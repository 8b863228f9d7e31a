/** Explanation of a ranking for people. Sent over the control channel, so this file imports nothing. */

/** Contribution for or against a tool. The contributions to a hit add up to its score. */
export interface Contribution {
  /** A word, a meaning, a signal of the ranking, "variant or sibling" or "rounding". */
  from: string;
  /** The word, the concept, or the value of the signal. */
  what: string;
  /** For a word: the tool's fields that contain it. */
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
  /** Words of the query as they were interpreted. */
  words: readonly { word: string; known: boolean; stop: boolean }[];
  concepts: readonly { asked: string; standsFor: readonly string[] }[];
  intent: string;
  hits: readonly ExplainedHit[];
}
