import { globSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  commandLink,
  type MarkdownText,
  markdownText,
  type NotificationText,
  notificationText,
} from '../../src/extension/notificationText.ts';
import type { ToolRow, treeMessage } from '../../src/extension/tree/toolRows.ts';
import type { Row } from '../../src/extension/tree/treeRow.ts';
import type {
  ask,
  Choice,
  InputOptions,
  notify,
  OpenPick,
  PickOptions,
  saveAs,
  showProgress,
  showWaiting,
} from '../../src/extension/windows.ts';

/**
 * Forms in which an editor finds a link or an icon. VS Code's messages and input prompts link a label in brackets with
 * an address in parentheses directly behind it, whatever stands in the label.
 */
const FORMS = /\]\(|\$\(|<[a-z][\w+.-]*:|command:\S|[\n\r\u2028\u2029]/i;

const ATTACKS = [
  '[details](command:workbench.action.tasks.runTask?%22t%22)',
  '[Read the details](command:workbench.action.terminal.new?{})',
  '[x](command:a "title")',
  '[x](COMMAND:a)',
  '[x](https://a.test)',
  '[x](file:///etc/passwd)',
  '[a [nested] label](command:a)',
  '\\[x\\](command:a)',
  '[x\\](command:a)',
  '[x]\n(command:a)',
  '[a\nb](command:a)',
  '![x](command:a)',
  '<command:a>',
  '<Command:a?%5B%5D>',
  'open command:workbench.action.quit now',
  '$(verified) checked by Waygate',
  ']](command:a)',
  '[x]\u200b(command:a)',
  '[x]\u0000(command:a)',
];

describe('foreign words in a notification', () => {
  it.each(ATTACKS)('are neither a link nor an icon: %j', (attack) => {
    expect(notificationText`The server ${attack} failed: ${attack}.`).not.toMatch(FORMS);
  });

  it('form no link together, wherever they stand', () => {
    const piece = fc.constantFrom('[', ']', '(', ')', '](', 'command:', 'x', ' ', '\n', '$', '<', '\\', '\u200b', '\r');
    const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(notificationText`${a}${b}`).not.toMatch(FORMS);
        expect(notificationText`[${a}](${b})`).not.toMatch(FORMS);
        const once = notificationText`${a}`;
        expect(notificationText`${once}`).toBe(once);
      }),
    );
  });

  it('stay readable', () => {
    expect(notificationText`servers[0].url of ${'C:\\a (copy)'} [${'files'}], <${'name'}>, $5`).toBe(
      'servers[0].url of C:\\a (copy) [files], <name>, $5',
    );
  });

  it('hide nothing and do not push out the words behind them', () => {
    expect(notificationText`Stop ${'a\u202eb'}?`).toBe('Stop a\\u202eb?');
    const text = notificationText`Allow ${'x'.repeat(5_000)} to run?`;
    expect(text).toMatch(/… to run\?$/);
    expect(notificationText`${'a'.repeat(900)}${'b'.repeat(900)}${'c'.repeat(900)}`).toHaveLength(1_000);
  });
});

describe('foreign words in a tooltip', () => {
  it('end no link that runs a command', () => {
    expect(commandLink('a](command:b) <c>', 'waygate.signIn', { server: "x')(y" })).toBe(
      "[a\\]\\(command\\:b\\) \\<c\\>](command\\:waygate\\.signIn\\?\\%5B\\%7B\\%22server\\%22\\%3A\\%22x\\'\\)\\(y\\%22\\%7D\\%5D)",
    );
  });

  it('stay plain text in Markdown', () => {
    expect(markdownText`**${'[x](command:y) <img> `a` https://b.test'}**`).toBe(
      '**\\[x\\]\\(command\\:y\\) \\<img\\> \\`a\\` https\\:\\/\\/b\\.test**',
    );
    expect(markdownText`${'    code\n- item\n==='}`).toBe('code\n\\- item\n\\=\\=\\=');
    expect(markdownText`${'a\u202eb'}`).toBe('a\\\\u202eb');
  });
});

/** Does not compile if a text of any origin fits. */
type Cleaned<T> = string extends T ? never : true;

it('the types of messages, prompts and rows admit only cleaned text', () => {
  const checked: [
    Cleaned<Parameters<typeof notify>[1]>,
    Cleaned<Parameters<typeof ask>[0]>,
    Cleaned<Parameters<typeof ask>[1]>,
    Cleaned<Parameters<typeof showWaiting>[0]>,
    Cleaned<Parameters<typeof showWaiting>[1]['label']>,
    Cleaned<Parameters<OpenPick<never>['setTitle']>[0]>,
    Cleaned<Parameters<typeof showProgress>[0]>,
    Cleaned<Choice['label' | 'description' | 'detail']>,
    Cleaned<PickOptions['title' | 'placeHolder']>,
    Cleaned<Parameters<typeof saveAs>[0]>,
    Cleaned<InputOptions['title' | 'prompt']>,
    Cleaned<Row['label'] | Row['description'] | Row['accessibilityLabel']>,
    Cleaned<ToolRow['label'] | ToolRow['description'] | ToolRow['accessibilityLabel']>,
    Cleaned<ReturnType<typeof treeMessage>>,
    Cleaned<NotificationText>,
    Cleaned<MarkdownText>,
  ] = [true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true];
  expect(checked).not.toContain(false);
});

/** Ways to show text in VS Code, each with the only file that may use it, or the only form of a use. */
const WAYS: readonly [way: RegExp, file: string | undefined, form?: RegExp][] = [
  [/\bshow(?:Information|Warning|Error)Message\b|\bsetStatusBarMessage\b/, 'windows.ts'],
  [/\bshow(?:QuickPick|InputBox)\b|\bcreate(?:QuickPick|InputBox)\b|\bwithProgress\b/, 'windows.ts'],
  [/\bshow(?:Open|Save)Dialog\b/, 'windows.ts'],
  [/\bshowWorkspaceFolderPick\b|\bcreateLanguageStatusItem\b|\bcreateTerminal\b/, undefined],
  [/\bcreateStatusBarItem\b/, 'status/statusBar.ts'],
  [/\bisTrusted = /, undefined, /\bisTrusted = \{ enabledCommands: /],
  [/\bcreateTreeView\b|\bnew vscode\.TreeItem\b/, 'tree/treeRow.ts'],
  [/\bappendCodeblock\b/, undefined, /\bappendCodeblock\(visibleText\(/],
  [/\bregisterTreeDataProvider\b|\bsupportHtml\b|\bsupportThemeIcons\b|\bappendText\b|\bwindow\[/, undefined],
  [/\bas (?:NotificationText|MarkdownText)\b/, 'notificationText.ts'],
  [/\bMarkdownString\(/, undefined, /\bMarkdownString\(\)/],
  [/\bappendMarkdown\(/, undefined, /\bappendMarkdown\((?:markdownText`|commandLink\(|paragraph\(line\))/],
  [/\bnew vscode\.(?:InlayHint|FileDecoration)\b|\bcreateCommentController\b/, undefined],
  [/\bnew vscode\.Hover\b/, undefined, /\bnew vscode\.Hover\(content, /],
  [/\bnew vscode\.CompletionItem\b/, undefined, /\bnew vscode\.CompletionItem\(\{ label, description \}, /],
  [/\btitle: `\$\(/, undefined, /\btitle: `\$\((?:check|\$\{ICONS\[action\]\})\)\\u00a0\$\{notificationText`/],
  [/\bDiagnostic\(/, undefined, /\bnew vscode\.Diagnostic\(range, message, /],
];

it('no file shows text of another form, or in another way', () => {
  const files = globSync('src/extension/**/*.ts').map((file) => file.replaceAll('\\', '/'));
  const uses = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => !/^\s*(?:\/?\*|\/\/)/.test(line))
      .map((line) => ({ file: file.slice('src/extension/'.length), line: line.trim() })),
  );
  const strays = WAYS.flatMap(([way, owner, form]) => {
    const found = uses.filter(({ line }) => way.test(line));
    return found.filter(({ file, line }) => file !== owner && !form?.test(line));
  });
  expect(strays).toEqual([]);
  for (const [way, owner, form] of WAYS) {
    if (owner || form) expect(uses.filter(({ line }) => way.test(line)).length, String(way)).toBeGreaterThan(0);
  }
});
