import { type ParseErrorCode, printParseErrorCode } from 'jsonc-parser';

/** Describes a syntax error in JSON: `CommaExpected` becomes `a comma is expected here`. */
export function describeSyntaxError(error: ParseErrorCode): string {
  const name = printParseErrorCode(error)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
  const expected = /^(.*) expected$/.exec(name);
  return expected ? `a ${expected[1]} is expected here`.replace('a end', 'an end') : name;
}
