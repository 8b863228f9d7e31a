import { list, object } from './collections.ts';
import { field, flag, type Infer, must, type ObjectOf, text } from './field.ts';

const PATHS = text({ filled: true });
const DOMAIN = text({
  form: {
    pattern: /^(?:\*|(?:\*\.)?[\w-]+(?:\.[\w-]+)*|\[[\da-fA-F:.]+\])(?::\d{1,5})?$/,
    description: 'a domain like "api.example.com" or "*.example.com", without a scheme or a path',
  },
});

/** Keys of VS Code's `sandbox`, and `required`. */
const RULES = {
  required: flag({
    default: true,
    doc: 'Refuses to start where the machine has no walls. `false` starts the server without them there, as `"auto"` does.',
  }),
  filesystem: object(
    {
      allowWrite: list(PATHS, {
        default: [],
        doc: 'Paths that the server may write, besides its folder and private folders for its caches and temporary files.',
      }),
      denyRead: list(PATHS, { default: [], doc: 'Paths that it must not read.' }),
      denyWrite: list(PATHS, { default: [], doc: 'Paths that it must not write, whatever `allowWrite` says.' }),
    },
    { doc: 'Files of a server behind walls.' },
  ),
  network: object(
    {
      allowedDomains: list(DOMAIN, {
        default: [],
        doc: 'Domains that the server may reach: `api.example.com`, `*.example.com`, `example.com:443`. A package runner also reaches its registry.',
      }),
      deniedDomains: list(DOMAIN, {
        default: [],
        doc: 'Domains that it must not reach, whatever `allowedDomains` says.',
      }),
    },
    { doc: 'Network of a server behind walls.' },
  ),
};
const OBJECT = object(RULES, {});
const FORM = 'true, false, "auto" or an object with "filesystem" and "network"';

export type SandboxRules = ObjectOf<typeof RULES>;

/** Declares `sandbox` of a program, in VS Code's form. */
export const sandbox = field<boolean | 'auto' | SandboxRules, object>(
  {
    doc: 'Walls of the system around the server: `true` starts it only behind them, `false` without them, `"auto"` behind them where the machine can. An object, in the form of VS Code, is `true` with rules of its own. By default `"auto"` for a server of a workspace and `false` for a server of your own waygate.json. See [walls](reference/walls.md).',
  },
  { ...OBJECT.schema, type: ['boolean', 'string', 'object'], pattern: '^auto$' },
  (node, path, reader) => {
    if (node.type === 'object') return OBJECT.read(node, path, reader);
    const isKnown = node.type === 'boolean' || node.value === 'auto';
    return isKnown ? (node.value as boolean | 'auto') : must(FORM, node, path, reader);
  },
);

export type Sandbox = Infer<typeof sandbox>;
