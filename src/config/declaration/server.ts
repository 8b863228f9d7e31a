import { writtenForm } from '../secretReferences.ts';
import { list, object, record } from './collections.ts';
import { flag, type Infer, number, type ObjectOf, oneOf, text } from './field.ts';
import { sandbox } from './sandbox.ts';

/** Address of the web as written, without a user or password; or one that a variable of the environment has. */
const ADDRESS = /^([hH][tT][tT][pP][sS]?:\/\/[^/?#\\@]+([/?#\\]|$)|\$\{env:)/;
const URL_FORM = 'an address like "https://host/mcp", with passwords in "headers" by reference';
const ISSUER_FORM = 'an address like "https://login.example.com"';

/** Whether an address is valid. References count as a letter, since their values are unknown. */
function isAddress(value: string): boolean {
  const filledIn = writtenForm(value).replace(/\$\{[^}]*\}/g, 'x');
  if (!isWeb(filledIn)) return false;
  const { username, password } = new URL(filledIn);
  return username === '' && password === '';
}

const isWeb = (value: string): boolean => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);

const VALUE = text({ scalar: true, secrets: true });
/** RFC 9110 §5.6.2: a value of one line. */
const HEADER_VALUE = text({
  scalar: true,
  secrets: true,
  form: { pattern: /^[^\r\n]*$/, description: 'one line' },
  check: (value) => (/[\r\n]/.test(value) ? 'one line' : undefined),
});

/** Keys of every server. */
const SHARED = {
  keepAlive: flag({
    default: false,
    doc: 'Starts the server with the gateway and never stops it for being idle: for a server that loses something when it ends.',
  }),
  disabled: flag({ default: false, doc: 'Keeps the entry but neither starts the server nor offers its tools.' }),
  required: flag({
    lenient: true,
    schema: { default: true },
    doc: 'Whether a start in the mode `strict` needs this server (see `startup`).',
  }),
  startTimeoutSeconds: number({
    above: 0,
    max: 3_600,
    lenient: true,
    doc: 'Time limit of the first start of this server, in place of `startup.timeoutSeconds`: for one that downloads or builds much. A change applies to its next start.',
  }),
  trust: oneOf(['block', 'ask', 'tell'], {
    doc: 'What happens to tools, prompts and instructions that are new or changed since you approved the server: held back until you accept them (`block`), offered with a question at each call (`ask`), or offered and reported (`tell`). The default is `ask` for a program of your own waygate.json and `block` for an address; servers of a workspace always have `block`. Lowered hints are held back in any case.',
  }),
  sampling: flag({
    schema: { default: false },
    doc: 'Lets the server ask the model of your client (MCP sampling). Each request names the server and gets at most 4,096 tokens, no context, and at most 20 answers an hour.',
  }),
  sharing: oneOf(['workspace', 'session'], {
    doc: 'Whether all clients of the workspace share one process of the server or one connection to it (`workspace`, the default), or each client session has its own (`session`): for a server that remembers what its client did, such as one with a browser or a chain of thoughts. At most 16 sessions have their own.',
  }),
  roots: list(text({ filled: true }), {
    doc: 'Folders that the server gets as MCP roots, in place of those of your client: for a server that takes its folders from the client. Without this key, a server gets the roots of the client that uses it, unless its `args` name a folder.',
  }),
  tools: object(
    {
      include: list(text({ filled: true }), { default: [], doc: 'Only these. An empty list means all.' }),
      exclude: list(text({ filled: true }), { default: [], doc: 'Not these, whatever `include` says.' }),
    },
    {
      doc: 'Which of its tools exist: by names, or patterns with `*`, `?` and `[…]` over the names that the server gives them. A change applies at once, and the server keeps running.',
    },
  ),
};

/** Keys of a server that is a program. */
const STDIO = {
  command: text({
    required: true,
    filled: true,
    doc: 'The program to run: a path, or a name found on the `PATH`. No shell is involved.',
  }),
  args: list(text({ secrets: true }), { default: [], doc: 'Arguments of the program, one item each.' }),
  env: record(VALUE, {
    default: {},
    keys: { pattern: /^[^=\0]+$/, description: 'a name without "="' },
    doc: 'Environment variables of the program, in addition to a small safe set of yours. For a secret write `${secret:NAME}` and set that secret.',
  }),
  envFile: text({ filled: true, doc: 'A file of `NAME=value` lines. `env` overrides it.' }),
  cwd: text({
    filled: true,
    doc: 'The folder in which the program runs. By default the workspace folder, an empty one for a package runner such as `npx`, or your home folder for a server of your own waygate.json.',
  }),
  sandbox,
};

const URL_KEY = {
  filled: true,
  secrets: true,
  form: { pattern: ADDRESS, description: URL_FORM },
  check: (value: string) => (isAddress(value) ? undefined : URL_FORM),
  doc: 'The address of a server over HTTP, or with `type` `records` that of a record provider.',
} as const;

/** Keys of a server at an address. */
const HTTP = {
  url: text({ ...URL_KEY, required: true }),
  headers: record(HEADER_VALUE, {
    default: {},
    keys: { pattern: /^[!#$%&'*+.^`|~\w-]+$/, description: 'a name of letters, digits and "-"' },
    doc: 'Headers that are sent with every request to `url`. For a token write `Bearer ${secret:NAME}` and set that secret.',
  }),
  auth: object(
    {
      clientId: text({
        filled: true,
        doc: 'The id of a client that you registered, for an authorization server that registers none by itself; or the `https` address of a client id metadata document.',
      }),
      clientSecret: text({
        filled: true,
        secrets: true,
        form: { pattern: /^\$\{[^}]+\}$/, description: 'a reference like "${secret:NAME}"' },
        doc: 'The secret of that client, by reference alone: `${secret:NAME}`. It needs `issuer`, unless the server signs in by itself.',
      }),
      scopes: list(text({}), { doc: 'Scopes to ask for instead of those that the server names.' }),
      issuer: text({
        filled: true,
        form: { pattern: ADDRESS, description: ISSUER_FORM },
        check: (value) => (isWeb(value) ? undefined : ISSUER_FORM),
        doc: 'The only authorization server that may sign in to this server.',
      }),
    },
    {
      doc: 'Settings that a sign-in cannot find out by itself. Most servers need none of them.',
    },
  ),
};

/** Keys of a server that reads records, which Waygate itself is. Without any it reads those of this machine. */
const RECORDS = {
  url: text(URL_KEY),
  tokens: list(
    text({
      filled: true,
      secrets: true,
      form: { pattern: /^\$\{[^}]+\}$/, description: 'a reference like "${secret:NAME}"' },
    }),
    {
      default: [],
      doc: 'With `type` `records` and a `url`: the client token of each grant, by reference alone, such as `${secret:NAME}`. An owner token is refused.',
    },
  ),
};

/** Keys of an entry of `servers`, by the kind of server that has them. */
export const SERVER_KEYS = { shared: SHARED, stdio: STDIO, http: HTTP, records: RECORDS };

export const SERVER_TYPE = oneOf(['stdio', 'http', 'sse', 'records'], {
  doc: 'How Waygate talks to the server. Optional: a `command` means `stdio`; a `url` means `http`, which is Streamable HTTP, or the older HTTP+SSE if the server does not know it; `sse` is the older one alone. `records` makes Waygate itself the server: five tools that read the records of the provider at `url`, or without `url` those of this machine that you granted (see docs/reference/records.md).',
});

export type SharedKeys = ObjectOf<typeof SHARED>;
export type StdioKeys = ObjectOf<typeof STDIO>;
export type HttpKeys = ObjectOf<typeof HTTP>;
export type RecordsKeys = ObjectOf<typeof RECORDS>;
export type AuthConfig = Infer<typeof HTTP.auth>;
export type ToolFilter = Infer<typeof SHARED.tools>;
