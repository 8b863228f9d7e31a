import { expect, it } from 'vitest';
import { fixedGateway } from './fixedGateway.ts';

it('a host learns at once that a call may be repeated, but not of a tool that can only be called as a task', async () => {
  const tool = { description: 'd', inputSchema: { type: 'object' } };
  const { context, call } = fixedGateway({
    one: [
      { name: 'plain', ...tool },
      { name: 'slow', ...tool, execution: { taskSupport: 'required' } },
    ],
  });
  context.contractOf = () => 'convergent';
  const told: string[] = [];
  for (const name of ['plain', 'slow']) {
    await call(
      'tool_execute',
      { tool_id: `one:${name}`, args: {} },
      { contract: (contract) => told.push(`${name} ${contract}`) },
    );
  }
  expect(told).toEqual(['plain convergent']);
});
