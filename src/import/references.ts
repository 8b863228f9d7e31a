/** How a client's file refers to the environment, put into Waygate's own words (`${env:NAME}`). */

export interface Translation {
  text: string;
  notes: readonly string[];
}

export interface ReferenceScope {
  env: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
}

export type Translator = (text: string, scope: ReferenceScope) => Translation;

/** VS Code and its kin: the same words as ours, but for the separator of paths. */
export const editorReferences: Translator = (text, { platform }) => ({
  text: text.replace(/\$\{(pathSeparator|\/)\}/g, platform === 'win32' ? '\\' : '/'),
  notes: [],
});

/** `${NAME}` and `${NAME:-default}`, as Claude Code and the Copilot CLI have them. */
export const bracedReferences: Translator = (text, scope) => shellReferences(text, scope, /\$\{(\w+)(?::-([^}]*))?\}/g);

/** The same, and a bare `$NAME`, as the Gemini CLI has it. */
export const bareReferences: Translator = (text, scope) =>
  shellReferences(text, scope, /\$\{(\w+)(?::-([^}]*))?\}|\$([A-Za-z_]\w*)/g);

/** A client that replaces nothing: what looks like a reference was meant literally, and will not be any more. */
export const noReferences: Translator = (text) => ({ text, notes: looksLikeReference(text) ? [MEANT_LITERALLY] : [] });

export const MEANT_LITERALLY = 'what looks like a reference in it was plain text for that client; Waygate resolves it';

export function looksLikeReference(text: string): boolean {
  return /\$\{[^}]*\}/.test(text);
}

function shellReferences(text: string, { env }: ReferenceScope, pattern: RegExp): Translation {
  const notes: string[] = [];
  const translated = text.replace(pattern, (_, braced?: string, fallback?: string, bare?: string) => {
    const name = (braced ?? bare) as string;
    if (fallback === undefined) return `\${env:${name}}`;
    if (env[name]) {
      notes.push(`the default of \${${name}} is not carried over: the variable is set here`);
      return `\${env:${name}}`;
    }
    notes.push(`the default of \${${name}} stands in its place: the variable is not set here`);
    return fallback;
  });
  return { text: translated, notes };
}
