import { type BlockValue, block, type Scope } from './block.ts';
import { object } from './collections.ts';
import { type Infer, oneOf } from './field.ts';

const EGRESS = ['off', 'ask', 'block'] as const;

const trust = object(
  {
    egress: oneOf(EGRESS, {
      default: 'block',
      doc: 'What happens to a call whose arguments contain a secret that another server was given: it is refused (`block`), you are asked (`ask`), or it is sent (`off`). A workspace cannot loosen this.',
    }),
  },
  { doc: 'What servers may learn and do.' },
);
type Trust = Infer<typeof trust>;

export const TRUST = block<Trust>(trust, {
  defaultValue: { egress: 'block' },
  safety: {
    strictest: () => ({ egress: 'block' }),
    untilThen: 'no secret of a server may be sent to another one',
  },
  combine: keepEgress,
});

/** Keeps the user's own setting, or the default, where a workspace is weaker. */
function keepEgress(own: BlockValue<Trust> | undefined, { value }: BlockValue<Trust>, scope: Scope): Trust {
  const floor = own?.value.egress ?? 'block';
  if (EGRESS.indexOf(value.egress) >= EGRESS.indexOf(floor)) return value;
  scope.ignored(['egress'], `"trust.egress" has no effect: a workspace cannot loosen "${floor}".`);
  return { ...value, egress: floor };
}
