/**
 * What of a file is in force though the file itself cannot be used, or its blocks about calls cannot: the text that it
 * is from; null where nothing is. One worker hands it to the next.
 */
export interface KeptText {
  whole?: string | null;
  calls?: string | null;
}

/** By file. */
export type KeptTexts = Readonly<Record<string, KeptText>>;
