/** Something a person must put right before the set-up can go on, said in one sentence. */
export class SetupError extends Error {}
