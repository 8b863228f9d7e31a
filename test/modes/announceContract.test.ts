import { expect, it } from 'vitest';
import { fixedGateway } from './fixedGateway.ts';

it('announces at once that a call may be repeated, except for a tool that runs only as a task', async () => {
  const tool = { description: 'd', inputSchema: { type: 'object' } };
  const { context, call } = fixedGateway({
    one: [
      { name: 'plain', ...tool },
      { name: 'slow', ...tool, execution: { taskSupport: 'required' } },
    ],
  });
  context.contractOf = () => 'convergent';
  const announced: string[] = [];
  for (const name of ['plain', 'slow']) {
    await call(
      'tool_execute',
      { tool_id: `one:${name}`, args: {} },
      { contract: (contract) => announced.push(`${name} ${contract}`) },
    );
  }
  expect(announced).toEqual(['plain convergent']);
});
