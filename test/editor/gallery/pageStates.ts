import { it } from 'vitest';
import { until } from '../../support/hostProcess.ts';
import { connectAgent, type Tour } from './tour.ts';

/** The dashboard and the form of a tool. */
export function pageStates(opened: () => Tour): void {
  it('the dashboard with servers that need the user, calls and limits', async () => {
    const { page, camera, run, shows, window, workspace, tidy } = opened();
    await run('Waygate: Open Dashboard');
    // The limits come with the worker's second answer.
    await shows(/Needs you[\s\S]*all sessions/);
    await camera.take('dashboard-degraded');
    const agent = await connectAgent(workspace, 'claude-code');
    for (const query of ['read a file', 'export invoices', 'remember a person', 'ship an order', 'find an order'])
      await agent.call('tool_browse', { query });
    for (let id = 1; id < 8; id++)
      await agent.call('tool_execute', { tool_id: 'shop:customer_list', args: { id, reason: 'left' } });
    await agent.call('tool_execute', { tool_id: 'works:fails', args: {} });
    await agent.call('tool_execute', { tool_id: 'works:large', args: { lines: 2_000 } });
    await shows('0 of 4 left');
    await shows(/customer_list/);
    await camera.take('dashboard-limit-met');
    await window.clickInFrame('[data-toggle]');
    await page.setViewportSize({ width: 1400, height: 1_700 });
    await camera.take('dashboard-details');
    await page.setViewportSize({ width: 760, height: 900 });
    await camera.take('dashboard-narrow');
    await page.setViewportSize({ width: 1400, height: 900 });
    await tidy();
  });

  it('the form of a tool', async () => {
    const { page, camera, window, shows, row, tidy, only } = opened();
    await only('Tools');
    await window.expand('Tools', 'shop');
    await row('Tools', 'customer_delete');
    await window.clickRowAction('Tools', 'customer_delete', 'Try Tool');
    await shows('More (6)');
    await camera.take('try-empty');
    await window.clickInFrame('summary');
    await camera.take('try-open');
    await window.fillInFrame('input[inputmode=decimal]', '70000');
    await window.clickInFrame('#run');
    await shows('id must be at most 9999');
    await camera.take('try-problems');
    await window.fillInFrame('input[inputmode=decimal]', '70');
    await window.clickInFrame('select');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await shows('asks you first');
    await window.clickInFrame('#run');
    await shows('Run customer_delete?');
    await camera.take('try-armed');
    await page.keyboard.press('Enter');
    await page.locator('.notifications-toasts .notification-list-item, .monaco-dialog-box').first().waitFor();
    await camera.take('try-asked');
    await window.clickInFrame('#cancel');
    await shows('Failed');
    await camera.take('try-failed');
    await tidy();
    await window.clickRowAction('Tools', 'customer_list', 'Try Tool');
    await shows('More (6)');
    await window.fillInFrame('input[inputmode=decimal]', '12');
    await window.clickInFrame('select');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await shows('Arguments are valid');
    await window.clickInFrame('#run');
    await shows('Answered in');
    await until('the history', async () => /ok · you/.test(await window.frameText()));
    await camera.take('try-answered');
    await window.clickInFrame('#tab-result');
    await camera.take('try-result');
    await window.clickInFrame('#tab-request');
    await camera.take('try-request');
    await tidy();
  });
}
