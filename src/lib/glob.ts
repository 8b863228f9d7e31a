/**
 * Matches a whole text against a case-sensitive shell pattern: `*`, `?`, `[seq]`, `[!seq]`. Never exponential. `any` in
 * the text matches every character of the pattern.
 */
export function globMatches(pattern: string, text: string, any?: string): boolean {
  const tokens = tokenize(pattern);
  let p = 0;
  let t = 0;
  let star = -1;
  let resume = 0;
  while (t < text.length) {
    const token = tokens[p];
    if (token === '*') {
      star = p++;
      resume = t;
    } else if (token !== undefined && (text.charAt(t) === any || token(text.charAt(t)))) {
      p += 1;
      t += 1;
    } else if (star !== -1) {
      p = star + 1;
      t = ++resume;
    } else return false;
  }
  while (tokens[p] === '*') p += 1;
  return p === tokens.length;
}

type Token = '*' | ((character: string) => boolean);

function tokenize(pattern: string): Token[] {
  const tokens: Token[] = [];
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern.charAt(i);
    if (character === '*') tokens.push('*');
    else if (character === '?') tokens.push(() => true);
    else if (character === '[') {
      // A bracket right after the opening one (or its `!`) is one of the characters.
      const first = pattern.charAt(i + 1) === '!' ? i + 2 : i + 1;
      const end = pattern.indexOf(']', first + 1);
      if (end === -1) tokens.push((c) => c === '[');
      else {
        tokens.push(characterClass(pattern.slice(i + 1, end)));
        i = end;
      }
    } else tokens.push((c) => c === character);
  }
  return tokens;
}

function characterClass(body: string): (character: string) => boolean {
  const negated = body.startsWith('!');
  const members = negated ? body.slice(1) : body;
  return (character) => {
    let found = false;
    for (let i = 0; i < members.length; i++) {
      if (members.charAt(i + 1) === '-' && i + 2 < members.length) {
        found ||= character >= members.charAt(i) && character <= members.charAt(i + 2);
        i += 2;
      } else found ||= character === members.charAt(i);
    }
    return found !== negated;
  };
}
