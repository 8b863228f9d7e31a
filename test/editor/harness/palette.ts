import type { Page } from 'playwright-core';
import { until } from '../../support/hostProcess.ts';

const PALETTE_LIMIT_MS = 5_000;

/** Runs a command from the palette, as a user does. */
export async function runCommand(page: Page, title: string): Promise<void> {
  // An earlier command may open something that takes the focus, which closes the palette.
  await until(title, async () => {
    await page.keyboard.press('F1');
    const timeout = PALETTE_LIMIT_MS;
    try {
      await page.locator('.quick-input-widget .quick-input-box input').first().fill(`>${title}`, { timeout });
      await page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first().click({ timeout });
      return true;
    } catch {
      return false;
    }
  });
}
