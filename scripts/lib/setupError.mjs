/** Error that the user must correct before the set-up can go on. Its message is one sentence. */
export class SetupError extends Error {}
