import { type BlockValue, block, type Scope } from './block.ts';
import { object } from './collections.ts';
import { type Infer, oneOf } from './field.ts';

const EGRESS = ['off', 'ask', 'block'] as const;
const RESULTS = ['off', 'tell'] as const;

const trust = object(
  {
    egress: oneOf(EGRESS, {
      default: 'block',
      doc: 'What happens to a secret that would be sent to a server. `block`: a secret that another server was given, or that was masked in its results, is refused, and you are asked about what only looks like a secret. `ask`: you are asked about each. `off`: nothing is searched for. A policy rule with `"metaTool": "egress"` decides for a server. A workspace cannot loosen this.',
    }),
    results: oneOf(RESULTS, {
      default: 'tell',
      doc: 'Whether Waygate adds a note to a result that reads like an attack (`tell`), or not (`off`). Results are never held back. A workspace cannot turn it off.',
    }),
  },
  { doc: 'What servers may learn and do.' },
);
type Trust = Infer<typeof trust>;

const DEFAULTS: Trust = { egress: 'block', results: 'tell' };

export const TRUST = block<Trust>(trust, {
  defaultValue: DEFAULTS,
  safety: {
    strictest: () => DEFAULTS,
    untilThen: 'no secret of a server may be sent to another one, and results are scanned',
  },
  combine: keepStricter,
});

/** Keeps the user's own settings, or the defaults, where a workspace is weaker. */
function keepStricter(own: BlockValue<Trust> | undefined, { value }: BlockValue<Trust>, scope: Scope): Trust {
  const floor = own?.value ?? DEFAULTS;
  const kept = <T extends string>(key: keyof Trust, order: readonly T[], theirs: T, least: T): T => {
    if (order.indexOf(theirs) >= order.indexOf(least)) return theirs;
    scope.ignored([key], `"trust.${key}" has no effect: a workspace cannot loosen "${least}".`);
    return least;
  };
  return {
    egress: kept('egress', EGRESS, value.egress, floor.egress),
    results: kept('results', RESULTS, value.results, floor.results),
  };
}
