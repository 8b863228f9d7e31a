import { SECRET_MASK } from '../../secrets/names.ts';
import { visibleData } from '../../text/visibleText.ts';

/** Shorter texts are no secrets, and masking them would damage words. */
const MIN_TOKEN_CHARS = 4;

/** Masks the token in an answer that repeats it. `text` is the body as received. */
export function withoutToken(body: unknown, text: string, token: string): unknown {
  if (token.length < MIN_TOKEN_CHARS) return body;
  // JSON may spell any letter of the token as an escape.
  if (!text.includes(token) && !text.includes('\\u') && !text.includes('\\/')) return body;
  return visibleData(body, (part) => part.replaceAll(token, SECRET_MASK));
}
