import { type ParseErrorCode, printParseErrorCode } from 'jsonc-parser';

/** What is wrong with a text that is not JSON: `CommaExpected` → `a comma is expected here`. */
export function syntaxWords(error: ParseErrorCode): string {
  const words = printParseErrorCode(error)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
  const expected = /^(.*) expected$/.exec(words);
  return expected ? `a ${expected[1]} is expected here`.replace('a end', 'an end') : words;
}
