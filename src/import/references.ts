/** Translates a client's references to the environment into Waygate's (`${env:NAME}`). */

export interface Translation {
  text: string;
  notes: readonly string[];
}

export interface ReferenceScope {
  env: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
}

export type Translator = (text: string, scope: ReferenceScope) => Translation;

/** Syntax of VS Code and its derivatives: the same as Waygate's, except for the path separator. */
export const editorReferences: Translator = (text, { platform }) => ({
  text: text.replace(/\$\{(pathSeparator|\/)\}/g, platform === 'win32' ? '\\' : '/'),
  notes: [],
});

/** Syntax of Claude Code and the Copilot CLI: `${NAME}` and `${NAME:-default}`. */
export const bracedReferences: Translator = (text, scope) => shellReferences(text, scope, /\$\{(\w+)(?::-([^}]*))?\}/g);

/** Syntax of the Gemini CLI: the same, and a bare `$NAME`. */
export const bareReferences: Translator = (text, scope) =>
  shellReferences(text, scope, /\$\{(\w+)(?::-([^}]*))?\}|\$([A-Za-z_]\w*)/g);

/** Syntax of opencode and Continue: `{env:NAME}`, and `${{ secrets.NAME }}` for the user's stored secrets. */
export const templateReferences: Translator = (text) => ({
  text: text
    .replace(/\$\{\{\s*(?:secrets|inputs)\.([\w.-]+)\s*\}\}/g, '$${secret:$1}')
    .replace(/(?<!\$)\{env:(\w+)\}/g, '$${env:$1}'),
  notes: /\{file:[^}]*\}/.test(text) ? ['a reference to a file is not imported; set its value as a secret'] : [],
});

/** For clients that replace nothing: text that looks like a reference was literal there, but Waygate resolves it. */
export const noReferences: Translator = (text) => ({ text, notes: looksLikeReference(text) ? [MEANT_LITERALLY] : [] });

export const MEANT_LITERALLY = 'text that looks like a reference was literal for that client; Waygate resolves it';

export function looksLikeReference(text: string): boolean {
  return /\$\{[^}]*\}/.test(text);
}

function shellReferences(text: string, { env }: ReferenceScope, pattern: RegExp): Translation {
  const notes: string[] = [];
  const translated = text.replace(pattern, (_, braced?: string, fallback?: string, bare?: string) => {
    const name = (braced ?? bare) as string;
    if (fallback === undefined) return `\${env:${name}}`;
    if (env[name]) {
      notes.push(`the default of \${${name}} is not imported: the variable is set here`);
      return `\${env:${name}}`;
    }
    notes.push(`the default of \${${name}} is used instead: the variable is not set here`);
    return fallback;
  });
  return { text: translated, notes };
}
