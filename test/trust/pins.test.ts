import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acquireLock } from '../../src/host/attach/startLock.ts';
import type { GatedServer } from '../../src/trust/pins/offer.ts';
import { readBook, stateOf, writeBook } from '../../src/trust/pins/pinBook.ts';
import { equalsPins, itemsOf, type Listing } from '../../src/trust/pins/pinnedItems.ts';
import { PinStore } from '../../src/trust/pins/pinStore.ts';
import { TrustGate, type TrustGatePorts } from '../../src/trust/pins/trustGate.ts';

const ALL = ['tools', 'prompts', 'resourceTemplates', 'instructions'] as const;
const BLOCK: GatedServer = { name: 'one', launch: 'a', onChange: 'block', isForeign: true };
const ASK: GatedServer = { ...BLOCK, onChange: 'ask' };

const tool = (name: string, more: object = {}) => ({ name, description: `The tool ${name}.`, ...more });
const listing = (tools: readonly unknown[], more: Partial<Listing> = {}): Listing => ({
  tools,
  prompts: [],
  resourceTemplates: [],
  ...more,
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pins-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function gateOf(ports: Partial<TrustGatePorts> = {}): TrustGate {
  return new TrustGate({
    store: new PinStore({ folder, lock: acquireLock }),
    scan: () => new Map(),
    isSink: (name) => name === 'sidenote',
    locked: () => undefined,
    now: () => new Date(0),
    log: () => {},
    onBaseline: () => {},
    onChange: () => {},
    ...ports,
  });
}

const names = (gate: TrustGate, server: GatedServer, list: Listing): unknown[] =>
  gate.offer(server, list).listing.tools.map((one) => (one as { name: string }).name);
const heldBy = (gate: TrustGate, server: GatedServer, list: Listing) =>
  gate.offer(server, list).held.map(({ item, why }) => `${item.name || item.part} ${why}`);

describe('the first list of a server', () => {
  it('is offered and becomes the baseline', () => {
    const gate = gateOf();
    const first = listing([tool('a'), tool('b')]);
    expect(names(gate, BLOCK, first)).toEqual([]);
    gate.onListed(BLOCK, first, ALL);
    expect(gate.offer(BLOCK, first).listing).toBe(first);
    expect(gate.offer(BLOCK, first).held).toEqual([]);
  });

  it('of each part is the baseline of this part, whenever it comes', () => {
    const gate = gateOf();
    gate.onListed(BLOCK, listing([tool('a')]), ['tools']);
    const both = listing([tool('a')], { prompts: [{ name: 'p' }] });
    gate.onListed(BLOCK, both, ['prompts']);
    expect(gate.offer(BLOCK, both).held).toEqual([]);
    const more = listing([tool('a')], { prompts: [{ name: 'p' }, { name: 'q' }] });
    gate.onListed(BLOCK, more, ['prompts']);
    expect(heldBy(gate, BLOCK, more)).toEqual(['q new']);
  });

  it('under another launch is another baseline, which keeps what the user blocked', () => {
    const gate = gateOf();
    gate.onListed(BLOCK, listing([tool('a'), tool('b')]), ALL);
    gate.block('one', ['tools:b']);
    const changed = listing([tool('a', { title: 'A' }), tool('b')]);
    gate.onListed({ ...BLOCK, launch: 'b' }, changed, ALL);
    expect(heldBy(gate, { ...BLOCK, launch: 'b' }, changed)).toEqual(['b blocked']);
  });

  it('puts the server in quarantine if the scan has a hard finding', () => {
    const gate = gateOf({ scan: (items) => new Map(items.map(({ key }) => [key, { hard: 'it gives orders' }])) });
    const first = listing([tool('a')]);
    gate.onListed(BLOCK, first, ALL);
    expect(heldBy(gate, BLOCK, first)).toEqual(['a quarantined']);
    gate.release('one');
    expect(names(gate, BLOCK, first)).toEqual(['a']);
  });

  describe('with a lock file', () => {
    const lockedTo = (...tools: unknown[]): Partial<TrustGatePorts> => ({ locked: () => itemsOf(listing(tools)) });

    it('is compared with it', () => {
      const gate = gateOf(lockedTo(tool('a'), tool('b', { title: 'B' })));
      const first = listing([tool('a'), tool('b'), tool('c')]);
      gate.onListed(BLOCK, first, ALL);
      expect(heldBy(gate, BLOCK, first)).toEqual(['b changed', 'c new']);
      expect(gate.review(BLOCK, first).items.map(({ drift }) => drift?.kinds)).toEqual([['words'], undefined]);
    });

    it('that pins nothing is new as a whole', () => {
      const gate = gateOf(lockedTo());
      const first = listing([tool('a')]);
      gate.onListed(BLOCK, first, ALL);
      expect(heldBy(gate, BLOCK, first)).toEqual(['a new']);
    });

    it('changes no pin that the user has, when another part is listed for the first time', () => {
      gateOf().onListed(BLOCK, listing([tool('a')]), ['tools']);
      const gate = gateOf({
        locked: () => itemsOf(listing([tool('a', { title: 'A' })], { prompts: [{ name: 'p' }] })),
      });
      const changed = listing([tool('a', { title: 'A' })], { prompts: [{ name: 'p' }, { name: 'q' }] });
      gate.onListed(BLOCK, changed, ['prompts']);
      expect(heldBy(gate, BLOCK, changed)).toEqual(['a changed', 'q new']);
    });

    it('that pins an attack puts the server in quarantine, though the server does not list it yet', () => {
      const scan: TrustGatePorts['scan'] = (items) =>
        new Map(items.filter(({ name }) => name === 'evil').map(({ key }) => [key, { hard: 'it gives orders' }]));
      const gate = gateOf({ scan, ...lockedTo(tool('a'), tool('evil')) });
      const first = listing([tool('a')]);
      gate.onListed(BLOCK, first, ALL);
      expect(heldBy(gate, BLOCK, first)).toEqual(['a quarantined']);
    });
  });

  it('of a second worker that lists more adds no pin', () => {
    const [one, two] = [gateOf(), gateOf()];
    const more = listing([tool('a'), tool('b')]);
    const racing = gateOf({
      locked: () => {
        one.onListed(BLOCK, listing([tool('a')]), ALL);
        return undefined;
      },
    });
    racing.onListed(BLOCK, more, ALL);
    expect(heldBy(two, BLOCK, more)).toEqual(['b new']);
  });
});

describe('a change', () => {
  const old = tool('a', {
    inputSchema: { type: 'object', properties: { x: { type: 'string', enum: ['1', '2'], description: 'X.' } } },
    outputSchema: { type: 'object' },
    annotations: { destructiveHint: true },
  });
  const schema = old as unknown as { inputSchema: { properties: { x: object } } };
  const changes: [string, object][] = [
    ['description', { description: 'Other.' }],
    ['white space', { description: 'The tool  a.' }],
    ['title', { title: 'A' }],
    ['schema description', { inputSchema: { ...schema.inputSchema, properties: { x: { description: 'Y.' } } } }],
    ['enum', { inputSchema: { ...schema.inputSchema, properties: { x: { enum: ['1'] } } } }],
    ['default', { inputSchema: { ...schema.inputSchema, properties: { x: { default: '~/.ssh/id_rsa' } } } }],
    ['added argument', { inputSchema: { ...schema.inputSchema, properties: { x: {}, y: {} } } }],
    ['output schema', { outputSchema: { type: 'array' } }],
    ['annotations', { annotations: { readOnlyHint: true } }],
    ['icons', { icons: [{ src: 'https://x/y.png' }] }],
    ['execution', { execution: { taskSupport: 'required' } }],
    ['unknown key', { note: 'x' }],
  ];

  it.each(changes)('of the %s holds the tool back, and an exact return offers it again', (_what, change) => {
    const gate = gateOf();
    const before = listing([old, tool('b')]);
    gate.onListed(BLOCK, before, ALL);
    const after = listing([{ ...old, ...change }, tool('b')]);
    gate.onListed(BLOCK, after, ALL);
    expect(heldBy(gate, BLOCK, after)).toEqual(['a changed']);
    expect(names(gate, BLOCK, after)).toEqual(['b']);
    expect(gate.offer(BLOCK, structuredClone(before)).held).toEqual([]);
  });

  it('of the order of keys, or of `_meta`, is none', () => {
    const gate = gateOf();
    gate.onListed(BLOCK, listing([{ name: 'a', title: 'A', _meta: { x: 1 } }]), ALL);
    expect(heldBy(gate, BLOCK, listing([{ title: 'A', name: 'a', _meta: { x: 2 } }]))).toEqual([]);
  });

  it('holds back new prompts, templates and instructions alike', () => {
    const gate = gateOf();
    gate.onListed(BLOCK, listing([], { instructions: 'Be kind.' }), ALL);
    const after = listing([], {
      prompts: [{ name: 'p' }],
      resourceTemplates: [{ uriTemplate: 'a://{b}' }],
      instructions: 'Be unkind.',
    });
    expect(heldBy(gate, BLOCK, after)).toEqual(['p new', 'a://{b} new', 'instructions changed']);
    const { prompts, resourceTemplates, instructions } = gate.offer(BLOCK, after).listing;
    expect([prompts, resourceTemplates, instructions]).toEqual([[], [], undefined]);
  });

  it('of one of two tools with the same name holds back that one', () => {
    const gate = gateOf();
    gate.onListed(BLOCK, listing([tool('a'), tool('a', { title: 'second' })]), ALL);
    const after = listing([tool('a'), tool('a', { title: 'other' })]);
    expect(gate.offer(BLOCK, after).held.map(({ item }) => item.use)).toEqual([2]);
  });

  it('is offered with a question if the user wants to be asked', () => {
    const gate = gateOf();
    gate.onListed(ASK, listing([tool('a')]), ALL);
    const after = listing([tool('a', { title: 'A' }), tool('b')]);
    expect(gate.offer(ASK, after).held).toEqual([]);
    expect([...gate.offer(ASK, after).asked.values()]).toEqual(['changed', 'new']);
    expect([...gate.offer({ ...ASK, onChange: 'tell' }, after).asked.values()]).toEqual([]);
  });

  const graver: [string, object, object][] = [
    ['drops the destructive hint', { annotations: { destructiveHint: true } }, {}],
    [
      'denies to be destructive',
      { annotations: { destructiveHint: true } },
      { annotations: { destructiveHint: false } },
    ],
    ['gains the read-only hint', {}, { annotations: { readOnlyHint: true } }],
    ['adds an argument that carries a conversation away', {}, { inputSchema: { properties: { sidenote: {} } } }],
    [
      'adds such an argument inside another one',
      { inputSchema: { properties: { of: {} } } },
      { inputSchema: { properties: { of: { anyOf: [{ properties: { sidenote: {} } }] } } } },
    ],
  ];
  it.each(graver)('that %s is held back whatever the setting', (_what, before, after) => {
    const gate = gateOf();
    gate.onListed(ASK, listing([tool('a', before)]), ALL);
    const list = listing([tool('a', after)]);
    expect(heldBy(gate, ASK, list)).toEqual(['a changed']);
    expect(heldBy(gate, { ...ASK, onChange: 'tell' }, list)).toEqual(['a changed']);
  });

  it('that adds a second tool of the same name with a lowered hint is held back', () => {
    const gate = gateOf();
    const first = tool('a', { annotations: { destructiveHint: true } });
    gate.onListed(ASK, listing([first]), ALL);
    const list = listing([first, tool('a', { annotations: { readOnlyHint: true } })]);
    expect(heldBy(gate, { ...ASK, onChange: 'tell' }, list)).toEqual(['a new']);
  });

  it('of what no call asks about is held back if the user wants to be asked', () => {
    const gate = gateOf();
    gate.onListed(ASK, listing([], { prompts: [{ name: 'p' }], instructions: 'Old.' }), ALL);
    const list = listing([], {
      prompts: [{ name: 'p', title: 'P' }],
      resourceTemplates: [{ uriTemplate: 'a://{b}', name: 't' }],
      instructions: 'New.',
    });
    expect(heldBy(gate, ASK, list)).toEqual(['p changed', 'a://{b} new', 'instructions changed']);
    expect(heldBy(gate, { ...ASK, onChange: 'tell' }, list)).toEqual([]);
  });

  it('of a resource needs no approval, and quarantine holds it back', () => {
    const gate = gateOf();
    gate.onListed(BLOCK, listing([tool('a')]), ALL);
    const list = listing([tool('a')], { resources: [{ uri: 'x://new' }] });
    expect(gate.offer(BLOCK, list).listing).toBe(list);
    gate.quarantine('one', 'You put it there.');
    expect(gate.offer(BLOCK, { ...list }).listing.resources).toEqual([]);
  });

  it('that silences a hint holds back a tool whose name is a destructive verb', () => {
    const gate = gateOf();
    gate.onListed(ASK, listing([tool('delete_row')]), ALL);
    expect(heldBy(gate, ASK, listing([tool('delete_row', { annotations: { destructiveHint: false } })]))).toEqual([
      'delete_row changed',
    ]);
  });

  it('is held back in every setting if the scan finds an attack in it', () => {
    let attack = false;
    const gate = gateOf({
      scan: (items) => new Map(attack ? items.map(({ key }) => [key, { hard: 'it gives orders' }]) : []),
    });
    gate.onListed(ASK, listing([tool('a')]), ALL);
    attack = true;
    expect(heldBy(gate, ASK, listing([tool('a', { title: 'A' })]))).toEqual(['a flagged']);
  });

  it('is judged as grave if the pinned text is lost', () => {
    gateOf().onListed(ASK, listing([tool('a')]), ALL);
    rmSync(join(folder, 'pinned'), { recursive: true });
    const gate = gateOf();
    expect(heldBy(gate, ASK, listing([tool('a', { title: 'A' })]))).toEqual(['a changed']);
  });
});

describe('a decision of the user', () => {
  it('approves an item as it was shown, and nothing that came after', () => {
    const gate = gateOf();
    gate.onListed(BLOCK, listing([tool('a')]), ALL);
    const shown = itemsOf(listing([tool('a', { title: 'A' })]));
    gate.accept(BLOCK, shown);
    expect(heldBy(gate, BLOCK, listing([tool('a', { title: 'A' })]))).toEqual([]);
    expect(heldBy(gate, BLOCK, listing([tool('a', { title: 'B' })]))).toEqual(['a changed']);
  });

  it('holds in another worker at once', () => {
    const [one, two] = [gateOf(), gateOf()];
    const list = listing([tool('a'), tool('b')]);
    one.onListed(BLOCK, list, ALL);
    expect(names(two, BLOCK, list)).toEqual(['a', 'b']);
    two.block('one', ['tools:a']);
    expect(heldBy(one, BLOCK, list)).toEqual(['a blocked']);
    one.quarantine('one', 'the user');
    expect(heldBy(two, BLOCK, list)).toEqual(['a quarantined', 'b quarantined']);
    two.accept(BLOCK, itemsOf(list));
    expect(heldBy(one, BLOCK, list)).toEqual(['a quarantined', 'b quarantined']);
    one.release('one');
    expect(heldBy(two, BLOCK, list)).toEqual([]);
  });
});

describe('the file of pins', () => {
  const list = listing([tool('a')]);
  const file = (): string => join(folder, 'pins.json');

  it('is looked at once for a function that reads it often, and anew for the next', () => {
    const [store, other] = [new PinStore({ folder, lock: acquireLock }), new PinStore({ folder, lock: acquireLock })];
    const pins = { launch: 'a', since: '', parts: [], pins: {}, blocked: [] };
    store.steady(() => {
      other.update((book) => ({ ...book, one: pins }));
      expect(store.steady(() => store.read())).toEqual({});
      expect(store.read()).toEqual({});
    });
    expect(store.read()).toEqual({ one: pins });
    writeFileSync(store.file, 'damaged');
    expect(store.steady(() => store.read())).toBeUndefined();
  });

  it('is readable by its owner alone', () => {
    gateOf().onListed(BLOCK, list, ALL);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  const damages: [string, () => void][] = [
    ['cut', () => writeFileSync(file(), readFileSync(file(), 'utf8').slice(0, -20))],
    ['empty', () => writeFileSync(file(), '')],
    ['another book without its checksum', () => writeFileSync(file(), '{"format":1,"sha256":"","servers":{}}')],
    ['another server name', () => writeFileSync(file(), readFileSync(file(), 'utf8').replace('"one"', '"two"'))],
    ['gone', () => rmSync(file())],
    [
      'a link',
      () => {
        writeFileSync(join(folder, 'other'), writeBook({}));
        rmSync(file());
        symlinkSync(join(folder, 'other'), file());
      },
    ],
  ];
  it.each(damages)('offers nothing if it is %s, until the user begins again', (_what, damage) => {
    gateOf().onListed(BLOCK, list, ALL);
    damage();
    const gate = gateOf();
    gate.onListed(BLOCK, list, ALL);
    expect(heldBy(gate, BLOCK, list)).toEqual(['a damaged']);
    expect(gate.problemOf('one')).toContain('is damaged');
    gate.accept(BLOCK, itemsOf(list), [BLOCK, { ...BLOCK, name: 'two' }]);
    expect(heldBy(gate, BLOCK, list)).toEqual([]);
    // Nothing else gets a new baseline by the damage.
    gate.onListed({ ...BLOCK, name: 'two' }, list, ALL);
    expect(heldBy(gate, { ...BLOCK, name: 'two' }, list)).toEqual(['a new']);
  });

  it('refuses a changed byte anywhere', () => {
    const text = writeBook({
      one: { launch: 'a', since: 's', parts: ['tools'], pins: { 'tools:a': 'p' }, blocked: [], quarantine: 'why' },
    });
    expect(readBook(text)).toBeDefined();
    for (let at = 0; at < text.length; at++) {
      const changed = `${text.slice(0, at)}${text[at] === 'x' ? 'y' : 'x'}${text.slice(at + 1)}`;
      expect(readBook(changed), `byte ${at}`).toBeUndefined();
    }
  });

  it('offers nothing of a server whose baseline cannot be stored', () => {
    const lines: string[] = [];
    const gate = gateOf({
      store: new PinStore({ folder, lock: () => undefined }),
      log: (line) => lines.push(line),
    });
    gate.onListed(BLOCK, list, ALL);
    gate.onListed(BLOCK, list, ALL);
    expect(heldBy(gate, BLOCK, list)).toEqual(['a unsaved']);
    expect(gate.problemOf('one')).toContain('could not be pinned');
    expect(lines).toHaveLength(1);
  });
});

describe('the comparison of a whole listing', () => {
  const items = fc.array(
    fc.record({
      name: fc.constantFrom('a', 'b', 'a\n2', '"a"', 'tools:a', '', 3),
      version: fc.nat({ max: 1 }),
    }),
    { maxLength: 4 },
  );
  const anyListing = fc.record({
    tools: items,
    prompts: items,
    resourceTemplates: items,
    instructions: fc.constantFrom(undefined, '', 'Be kind.', 'Be unkind.'),
  });
  const pinsFor = (list: Listing) => itemsOf(list).map(({ key, pin }) => [key, pin] as const);
  const isApproved = (list: Listing, pins: Readonly<Record<string, string>>) =>
    itemsOf(list).every(({ key, pin }) => stateOf({ pins, blocked: [] }, key, pin) === 'approved');

  it('finds nothing equal that differs item by item', () => {
    const cases = fc.record({
      pinned: anyListing,
      listed: anyListing,
      same: fc.subarray(['tools', 'prompts'] as const),
    });
    fc.assert(
      fc.property(cases, fc.infiniteStream(fc.nat()), ({ pinned, listed, same }, order) => {
        for (const part of same) listed[part] = pinned[part];
        const all = pinsFor(pinned).map((entry) => ({ entry, rank: order.next().value as number }));
        const shuffled = all.sort((a, b) => a.rank - b.rank).map(({ entry }) => entry);
        for (const pins of [Object.fromEntries(pinsFor(pinned)), Object.fromEntries(shuffled)]) {
          const moved = { ...pinned, tools: [...pinned.tools, ...pinned.prompts] };
          for (const list of [pinned, listed, moved])
            if (equalsPins(list, pins)) expect(isApproved(list, pins)).toBe(true);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('finds a baseline equal whose parts came one after the other, and reads the pins of names again', () => {
    const gate = gateOf();
    const list = listing([tool('b'), tool('a')], { prompts: [{ name: 'p' }], instructions: 'Be kind.' });
    gate.onListed(BLOCK, listing([tool('b'), tool('a')]), ['tools']);
    gate.onListed(BLOCK, list, ALL);
    const { pins } = gate.review(BLOCK, list);
    expect(equalsPins(list, pins?.pins ?? {})).toBe(true);
    expect([...gate.offer(BLOCK, list).tools.keys()]).toEqual(['b', 'a']);
  });
});
