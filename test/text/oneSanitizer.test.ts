import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

interface Way {
  what: string;
  pattern: RegExp;
  /** Files that may use it, since nobody reads the text as Waygate's. */
  allowed: readonly string[];
}

const WAYS: readonly Way[] = [
  {
    what: 'patterns of control or hidden characters',
    // The one mark that is no foreign text: the byte order mark at the beginning of a file.
    pattern:
      /\/(?!\^\\ufeff\/)[^/\n]*(?:\\x[01]|\\x7f|\\u00[01]|\\u007f|\\u00ad|\\u200|\\u202|\\u206|\\ufe0|\\ufeff|\\u\{e00|\\p\{C(?:[cfs]?)\}|Default_Ignorable)[^/\n]*\/[dgimsuvy]*[;.,)]/,
    allowed: [
      // Separate ASCII from other text.
      'src/catalog/canonicalJson.ts',
      'src/ranking/words/text.ts',
      // Look for words, and show none of what they find.
      'src/trust/egress.ts',
      'src/trust/scan/document.ts',
      'src/secrets/asksForSecret.ts',
      // Emoji before a heading.
      'src/catalog/cards/cardText.ts',
      // Escapes all but plain spaces, since people compare two command lines.
      'src/trust/launch.ts',
    ],
  },
  {
    what: 'JSON within a text',
    pattern: /\$\{[^}]*\bJSON\.stringify\(/,
    allowed: [
      // Lines of protocols and of files.
      'src/telemetry/eventLog.ts',
      'src/mcp/wire/http/httpFrames.ts',
      'src/mcp/http/clientMessages.ts',
      'src/link/frames.ts',
      'src/link/linkHandshake.ts',
      'src/link/rendezvous.ts',
      'src/records/embedded/grants/grantFile.ts',
      'src/records/grants/searchCursor.ts',
      'src/import/jsonText.ts',
      'src/config/keptEntries.ts',
      'src/config/keptText.ts',
      'src/config/state/privateFile.ts',
      // Contents of artifacts and selectors, which the firewall shows.
      'src/results/select/json.ts',
      'src/results/envelope/pythonForm.ts',
      // Texts that are sealed, and keys of maps and rows.
      'src/trust/launch.ts',
      'src/extension/tree/toolRows.ts',
      'src/extension/activity/callList.ts',
      'src/trust/pins/pinnedItems.ts',
      'src/calls/validation/explainErrors.ts',
    ],
  },
  {
    what: 'output of commands',
    pattern: /process\.std(?:out|err)\.write\((?!'')|console\.(?:log|error|warn|info)\(/,
    allowed: ['src/cli/print.ts'],
  },
];

function linesWith(pattern: RegExp): Map<string, string[]> {
  const files = globSync('{src,webview}/**/*.ts').map((file) => file.replaceAll('\\', '/'));
  const found = files
    .filter((file) => !file.startsWith('src/text/'))
    .map((file): [string, string[]] => [
      file,
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => pattern.test(line) && !/^\s*(?:\*|\/\/)/.test(line)),
    ]);
  return new Map(found.filter(([, lines]) => lines.length > 0));
}

describe('foreign text', () => {
  it.each(WAYS)('has src/text as its only way: $what are nowhere else', ({ pattern, allowed }) => {
    const found = linesWith(pattern);
    expect([...found].filter(([file]) => !allowed.includes(file))).toEqual([]);
    expect(allowed.filter((file) => !found.has(file))).toEqual([]);
  });
});
