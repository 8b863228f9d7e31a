import { it } from 'vitest';
import { connectAgent, type Tour } from './tour.ts';

const LIST = '.quick-input-widget';
const TOAST = '.notifications-toasts .notification-list-item';

/** A call that the user is asked about. */
export function questionStates(opened: () => Tour): void {
  it('a question about a call', async () => {
    const { page, camera, workspace, only, row, tidy } = opened();
    const agent = await connectAgent(workspace, 'claude-code');
    await only('Activity');
    const answer = agent.call('tool_execute', {
      tool_id: 'shop:customer_delete',
      args: { id: 7, reason: 'asked', notify: ['ada@example.org'] },
    });
    await page.locator(TOAST, { hasText: 'waits for you' }).first().waitFor();
    await row('Activity', 'customer_delete', /waits for you/);
    await camera.take('question-toast');
    await page.locator('.statusbar-item', { hasText: 'Waygate' }).first().click();
    await page.locator(`${LIST} .quick-input-title:has-text("1 of 1")`).first().waitFor();
    await camera.take('question-list');
    await page.locator(`${LIST} .action-label[aria-label="Show Arguments"]`).first().click();
    const again = page.locator('.codelens-decoration a:has-text("Answer…")');
    await again.waitFor();
    await camera.take('question-arguments');
    await again.click();
    await page.locator(`${LIST} .quick-input-list .monaco-list-row`, { hasText: 'Deny' }).first().click();
    await answer;
    await tidy();
  });
}
