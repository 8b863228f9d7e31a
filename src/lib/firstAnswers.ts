/** Time after a start at which the first clients have their answers. What can wait until then delays none of them. */
export const AFTER_FIRST_ANSWERS_MS = 300;
