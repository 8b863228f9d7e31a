import { compareCodePoints } from '../../catalog/codePointOrder.ts';
import { visibleText } from '../../text/visibleText.ts';

/** `hard`: a harmless description has no use for the words. `soft`: they deserve a look (T1.4). */
export type Tier = 'hard' | 'soft';

/** Rules of the scan, in the order of reports (T1). `docs/reference/scan.md` describes them. */
export const SCAN_RULES = {
  H1: 'hidden characters',
  D1: 'overrides earlier instructions',
  D2: 'keeps something from the user',
  D3: 'tag that imitates the system',
  D4: 'claims that the user has consented',
  D5: 'addresses the assistant',
  D6: 'D1 or D2 in another language',
  P1: 'asks for a sensitive place',
  P2: 'names a sensitive place',
  P3: 'parameter that takes the conversation',
  C1: 'encoded command',
  C2: 'command that runs what it downloads, or deletes',
  S1: 'names a tool of another server',
  S2: 'name that imitates another',
  F1: 'asks for something before its use',
  F2: 'claims precedence over other tools',
  K1: 'live credential',
  L1: 'remote picture',
  L2: 'HTML comment',
  L3: 'asks to send something to an address',
  M1: 'computation that names a place or an address',
} as const satisfies Readonly<Record<string, string>>;

export type ScanRule = keyof typeof SCAN_RULES;

export interface Finding {
  readonly rule: ScanRule;
  readonly tier: Tier;
  /** JSON pointer of the text or key in what was scanned, with hidden characters as escapes. */
  readonly where: string;
  /** Passage around the match: one line of at most 120 visible characters. */
  readonly quote: string;
}

const RULES = Object.keys(SCAN_RULES) as readonly ScanRule[];

/** Findings of one tool: one for each rule and place, the hardest. */
export class Findings {
  readonly #found = new Map<string, Finding>();

  constructor(found: readonly Finding[] = []) {
    for (const { rule, tier, ...place } of found) this.add(rule, tier, place);
  }

  add(rule: ScanRule, tier: Tier, { where, quote }: { where: string; quote: string }): void {
    const place = visibleText(where);
    const key = `${rule} ${place}`;
    const known = this.#found.get(key);
    if (known?.tier === 'hard' || known?.tier === tier) return;
    this.#found.set(key, { rule, tier, where: place, quote });
  }

  /** Returns the findings by rule and place, which no order of keys changes. */
  sorted(): Finding[] {
    return [...this.#found.values()].sort(
      (a, b) => RULES.indexOf(a.rule) - RULES.indexOf(b.rule) || compareCodePoints(a.where, b.where),
    );
  }
}
