/** Clients whose configuration Waygate can read and for which it can write an entry. */
export const CLIENT_IDS = [
  'vscode',
  'claude-code',
  'claude-desktop',
  'cursor',
  'windsurf',
  'codex',
  'gemini',
  'zed',
  'copilot-cli',
  'cline',
  'roo',
  'continue',
  'kiro',
  'opencode',
  'lm-studio',
] as const;
export type ClientId = (typeof CLIENT_IDS)[number];
