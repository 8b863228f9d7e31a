import { describe, expect, it } from 'vitest';
import { rendezvous } from '../support/census.ts';
import { type FaultAction, FaultGateway, type FaultStep } from '../support/faultGateway.ts';
import { until } from '../support/hostProcess.ts';

/** Point 6 of the table in docs/reliability.md: a probe resolves the call, or the call is treated more strictly. */
const SCHEMA = { type: 'object', properties: { nonce: { type: 'string' } } };
const TOOLS = [
  { name: 'act', description: 'Has an effect.', inputSchema: SCHEMA },
  { name: 'look', description: 'Returns whether the effect has happened.', inputSchema: SCHEMA },
];
const PROBE = { tool: 'look', arguments: { nonce: { $arg: '/nonce' } }, effect: { at: '/done', equals: true } };

const call = (tool: string, more: Partial<FaultStep>, ...actions: FaultAction[]): FaultStep => ({
  on: 'tools/call',
  tool,
  ...more,
  do: actions,
});

function gateway(
  steps: readonly FaultStep[],
  {
    probes = { 'faulty:act*': PROBE } as object,
    open = FaultGateway.open as typeof FaultGateway.spawn | typeof FaultGateway.open,
  } = {},
): Promise<FaultGateway> {
  const replay = { default: 'probe_required', probes };
  return open({ tools: TOOLS, steps }, { blocks: { replay } });
}

describe('a call that requires a probe and loses its server', () => {
  it('after its effect is completed by the probe and not repeated', async () => {
    const faulty = await gateway([call('act', { life: 1 }, 'sigkill')]);
    const { text, isError } = await faulty.act('a');
    expect([text, isError]).toEqual([
      expect.stringMatching(
        /^ok\nThe server was lost during this call, but look shows that the call has taken effect\./,
      ),
      false,
    ]);
    expect(faulty.effects.map(({ nonce }) => nonce)).toEqual(['a']);
  });

  it('before its effect is replayed once by the next process', async () => {
    const faulty = await gateway([call('act', { life: 1 }, 'no-effect', 'sigkill')]);
    expect(await faulty.act('a')).toMatchObject({ text: 'ok\na\n', isError: false });
    expect(faulty.effects).toMatchObject([{ nonce: 'a', attempt: 1 }]);
  });

  it.each<[string, FaultAction[]]>([
    ['fails', [{ raw: '{"jsonrpc":"2.0","id":ID,"error":{"code":-32603,"message":"no"}}' }]],
    ['does not report the effect', [{ raw: '{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}' }]],
    ['crashes its server', ['sigkill']],
  ])('and whose probe %s gets one answer, outcome unknown, and is not repeated', async (_what, actions) => {
    const faulty = await gateway([call('act', { life: 1 }, 'sigkill'), call('look', {}, ...actions)]);
    const { text, isError } = await faulty.act('a');
    expect([text, isError]).toEqual([expect.stringContaining('outcome: unknown'), true]);
    expect(faulty.effects.map(({ nonce }) => nonce)).toEqual(['a']);
    expect(await faulty.act('b')).toMatchObject({ text: 'ok\nb\n' });
  });

  it('but has no probe configured is not repeated, with or without an effect', async () => {
    const faulty = await gateway(
      [call('act', { life: 1 }, 'no-effect', 'sigkill'), call('act', { life: 2 }, 'sigkill')],
      { probes: {} },
    );
    for (const nonce of ['a', 'b']) {
      expect(await faulty.act(nonce)).toMatchObject({ text: expect.stringContaining('outcome: unknown') });
    }
    expect(faulty.effects.map(({ nonce }) => nonce)).toEqual(['b']);
  });
});

describe('a call that requires a probe and loses its worker', () => {
  it('gets one answer, outcome unknown: the host cannot probe', async () => {
    const faulty = await gateway([call('act', { life: 1 }, 'hang')], { open: FaultGateway.spawn });
    const lost = faulty.act('a');
    await until('the effect', () => faulty.effects.length === 1);
    process.kill(rendezvous(faulty.workspace)?.pid as number, 'SIGKILL');
    expect(await lost).toMatchObject({ text: expect.stringContaining('outcome: unknown'), isError: true });
    await until('a successor that serves', async () => !(await faulty.act('b')).isError);
    expect(faulty.effects.filter(({ nonce }) => nonce === 'a')).toHaveLength(1);
  });
});
