import { describe, expect, it } from 'vitest';
import { HostProcess } from '../support/hostProcess.ts';
import { linesOf } from '../support/lines.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

describe('a session with more calls than it may have in flight', () => {
  it('waits for its own calls and delays no other session', async () => {
    const workspace = testWorkspace();
    const effects = workspace.write('effects.txt', '');
    workspace.configure({ one: servers.fixture('--effects', effects) });
    const [busy, calm] = [await HostProcess.connect(workspace), await HostProcess.connect(workspace)];
    const id = await busy.toolId('/one/wait');
    const execute = (host: HostProcess, args: object) => host.call('tool_execute', { tool_id: id, args });
    const held = Array.from({ length: 32 }, (_, i) => execute(busy, { until: workspace.gate, nonce: `held ${i}` }));
    const waiting = Array.from({ length: 100 }, (_, i) => execute(busy, { ms: 0, nonce: `waiting ${i}` }));
    // Reads of the session itself do not wait for its calls.
    expect((await busy.call('tool_browse', { path: '/' })).isError).toBe(false);
    expect((await execute(calm, { ms: 0, nonce: 'calm' })).text).toBe('ok\nwaited 0 ms\n');
    expect(linesOf(effects).filter((line) => line !== 'calm')).toEqual(expect.arrayContaining(['held 0', 'held 31']));
    expect(linesOf(effects)).toHaveLength(33);
    workspace.letGo();
    const answers = await Promise.all([...held, ...waiting]);
    expect(answers.every(({ isError }) => !isError)).toBe(true);
  });
});
