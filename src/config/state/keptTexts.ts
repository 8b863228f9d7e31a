/** Texts that were in force, by file: one worker leaves them to the next. */
export type KeptTexts = Readonly<Record<string, string>>;
