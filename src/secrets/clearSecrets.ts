/** What is meant to be secret, by the words of its name. */
const TELLING_NAME =
  /(^|[^a-z])(tokens?|secrets?|passwords?|passwd|pwd|api[^a-z]?keys?|access[^a-z]?keys?|private[^a-z]?keys?|auth[^a-z]?keys?|credentials?|authorization)($|[^a-z])/i;
/** Forms that issuers give their keys. */
const TELLING_VALUE =
  /^(Bearer\s+)?(gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|sk-[\w-]{16,}|xox[abprs]-[\w-]{10,}|(AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}|npm_\w{30,}|lin_api_\w{20,}|hf_\w{20,}|eyJ[\w-]{10,}\.[\w-]+\.[\w-]*)$|-----BEGIN [A-Z ]*PRIVATE KEY-----/;
/** What stands under such a name and is none: a switch, a number, a file, a placeholder. */
const HARMLESS_VALUE =
  /^(|true|false|none|null|\d{1,6}|[.~]?[\\/].*|[a-z]:\\.*|<.*>|\w*(your|example|changeme|xxx)\w*.*)$/i;

/** Whether a value under a name looks like a secret that stands there in clear. */
export function looksSecret(name: string, value: string): boolean {
  if (value.includes('${')) return false;
  if (TELLING_VALUE.test(value)) return true;
  const bare = value.replace(/^(Bearer|Basic|Token)\s+/i, '');
  return TELLING_NAME.test(withWords(name)) && bare.length >= 8 && !/\s/.test(bare) && !HARMLESS_VALUE.test(bare);
}

/** The positions in `args` of what looks like a secret, with the name of the option it belongs to. */
export function secretArguments(args: readonly string[]): { index: number; name: string }[] {
  return args.flatMap((argument, index) => {
    const [option, value] = argument.startsWith('-') ? splitOption(argument) : [undefined, argument];
    const name = option ?? (args[index - 1]?.startsWith('-') ? splitOption(args[index - 1] as string)[0] : '') ?? '';
    return value !== undefined && looksSecret(name, value) ? [{ index, name }] : [];
  });
}

function splitOption(argument: string): [string, string | undefined] {
  const [name = '', ...value] = argument.replace(/^-+/, '').split('=');
  return [name, value.length > 0 ? value.join('=') : undefined];
}

/** `apiKey` → `api_Key`: its words stand apart. */
function withWords(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, '$1_$2');
}
