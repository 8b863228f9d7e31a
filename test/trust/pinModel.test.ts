import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { acquireLock } from '../../src/host/attach/startLock.ts';
import type { GatedServer } from '../../src/trust/pins/offer.ts';
import { itemsOf, type Listing } from '../../src/trust/pins/pinnedItems.ts';
import { PinStore } from '../../src/trust/pins/pinStore.ts';
import { TrustGate } from '../../src/trust/pins/trustGate.ts';

const SERVER: GatedServer = { name: 's', launch: 'a', onChange: 'block', isForeign: true };
const ALL = ['tools', 'prompts', 'resourceTemplates', 'instructions'] as const;
const NAMES = ['a', 'b', 'c'];

/** Version of each tool that the server lists; 0 for a tool that is not listed. */
type Versions = readonly number[];

interface Model {
  baseline: boolean;
  approved: number[];
  blocked: boolean[];
  quarantined: boolean;
  damaged: boolean;
}

type Step =
  | { do: 'list'; worker: number; versions: Versions }
  | { do: 'accept' | 'block'; worker: number; tool: number }
  | { do: 'quarantine' | 'release'; worker: number }
  | { do: 'restart'; worker: number }
  | { do: 'refuseWrites'; on: boolean }
  | { do: 'damage' };

const worker = fc.nat({ max: 1 });
const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('list' as const),
        worker,
        versions: fc.tuple(...NAMES.map(() => fc.nat({ max: 3 }))),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constantFrom('accept' as const, 'block' as const),
        worker,
        tool: fc.nat({ max: 2 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('quarantine' as const, 'release' as const), worker }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('restart' as const), worker }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('refuseWrites' as const), on: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('damage' as const) }) },
  ) as fc.Arbitrary<Step>,
  { maxLength: 40 },
);

function listingOf(versions: Versions): Listing {
  const tools = NAMES.flatMap((name, at) => (versions[at] ? [{ name, description: `version ${versions[at]}` }] : []));
  return { tools, prompts: [], resourceTemplates: [] };
}

/** Returns the names that the model allows under these versions. */
function expected(model: Model, versions: Versions): string[] {
  if (model.damaged || !model.baseline || model.quarantined) return [];
  return NAMES.filter((_name, at) => versions[at] && !model.blocked[at] && model.approved[at] === versions[at]);
}

/** Runs the steps against real files and two workers. Throws at the first difference from the model. */
function run(all: readonly Step[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'pin-model-'));
  let refusing = false;
  const newGate = (): TrustGate =>
    new TrustGate({
      store: new PinStore({ folder, lock: (path) => (refusing ? undefined : acquireLock(path)), waitMs: 0 }),
      scan: () => new Map(),
      isSink: () => false,
      locked: () => undefined,
      now: () => new Date(0),
      log: () => {},
      onBaseline: () => {},
      onChange: () => {},
    });
  const workers = [newGate(), newGate()];
  const model: Model = {
    baseline: false,
    approved: [0, 0, 0],
    blocked: [false, false, false],
    quarantined: false,
    damaged: false,
  };
  let listed: Versions = [0, 0, 0];
  /** Does what a person does, which fails as a whole if the file cannot be written. */
  const decide = (act: () => void, change: () => void): void => {
    const allowed = !refusing && !model.damaged && model.baseline;
    if (allowed) {
      act();
      change();
    } else expect(act).toThrow();
  };
  try {
    for (const step of all) {
      const gate = workers['worker' in step ? step.worker : 0] as TrustGate;
      if (step.do === 'list') {
        listed = step.versions;
        gate.onListed(SERVER, listingOf(listed), ALL);
        if (!model.baseline && !model.damaged && !refusing) {
          model.baseline = true;
          model.approved = [...listed];
        }
      } else if (step.do === 'accept') {
        const shown = itemsOf(listingOf(listed)).filter(({ name }) => name === NAMES[step.tool]);
        if (shown.length === 0 || model.damaged || !model.baseline) continue;
        decide(
          () => gate.accept(SERVER, shown),
          () => {
            model.approved[step.tool] = listed[step.tool] as number;
            model.blocked[step.tool] = false;
          },
        );
      } else if (step.do === 'block') {
        decide(
          () => gate.block('s', [`tools:${NAMES[step.tool]}`]),
          () => {
            model.blocked[step.tool] = true;
          },
        );
      } else if (step.do === 'quarantine' || step.do === 'release') {
        const on = step.do === 'quarantine';
        decide(
          () => (on ? gate.quarantine('s', 'why') : gate.release('s')),
          () => {
            model.quarantined = on;
          },
        );
      } else if (step.do === 'restart') workers[step.worker] = newGate();
      else if (step.do === 'refuseWrites') refusing = step.on;
      else {
        writeFileSync(join(folder, 'pins.json'), '{"format":1');
        model.damaged = true;
      }
      for (const one of workers) {
        const offered = one
          .offer(SERVER, listingOf(listed))
          .listing.tools.map((tool) => (tool as { name: string }).name);
        expect(offered, JSON.stringify(step)).toEqual(expected(model, listed));
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('the pins of a server', () => {
  it('change by the user alone, through restarts, refused writes, damage and two workers', () => {
    fc.assert(fc.property(steps, run), { numRuns: Number(process.env.WAYGATE_PIN_RUNS ?? 150) });
  });
});
