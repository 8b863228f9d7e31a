/** Size limit of JSON that is parsed, because parsing blocks every other call. */
export const MAX_JSON_BYTES = 16 * 1024 * 1024;
