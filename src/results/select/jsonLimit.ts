/** JSON beyond this is not parsed: it would hold up every other call while it is. */
export const MAX_JSON_BYTES = 16 * 1024 * 1024;
