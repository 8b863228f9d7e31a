import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { galleryPage, statesOf, writeGallery } from '../../scripts/lib/gallery.mjs';
import { shrinkPicture } from '../../scripts/lib/picture.mjs';
import { findBrowser } from '../../scripts/lib/systemPackages.mjs';

const THEMES = ['dark', 'light', 'hc-dark', 'hc-light'];

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'wg-gallery-'));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

describe('the gallery', () => {
  it('has a row for each state, below its view, with the picture of each theme', () => {
    const files = ['tools-rows', 'tools-menu', 'try-empty'].flatMap((state) =>
      THEMES.map((theme) => `${state}.${theme}.png`),
    );
    const states = statesOf([...files, 'index.html', 'failed-something.png']);
    expect(states.map(({ state }) => state)).toEqual(['tools-menu', 'tools-rows', 'try-empty']);
    const page = galleryPage(states);
    expect(page.match(/<h2 /g)).toHaveLength(2);
    for (const file of files) expect(page).toContain(`<img src="${file}"`);
  });

  it('names the states that lack a theme, and is written nevertheless', () => {
    const here = folder();
    for (const theme of THEMES.slice(0, 3)) writeFileSync(join(here, `tools-rows.${theme}.png`), '');
    expect(() => writeGallery(here)).toThrow('Pictures are missing: tools-rows (hc-light).');
    expect(readFileSync(join(here, 'index.html'), 'utf8')).toContain('no picture');
    expect(() => writeGallery(folder())).toThrow('Pictures are missing: all.');
  });
});

describe.skipIf(findBrowser() === undefined)('a picture for a document', () => {
  it('has the same size and nearly the same colours', async () => {
    const browser = await chromium.launch({
      executablePath: findBrowser() as string,
      args: ['--no-sandbox', '--disable-gpu'],
    });
    onTestFinished(() => browser.close());
    const page = await browser.newPage({ viewport: { width: 300, height: 200 } });
    await page.setContent(
      '<body style="background: linear-gradient(#102030, #f0e0d0)"><h1 style="color: #c00">Waygate</h1></body>',
    );
    const [from, to] = ['from.png', 'to.png'].map((name) => join(folder(), name)) as [string, string];
    await page.screenshot({ path: from });
    const kilobytes = await shrinkPicture(from, to);
    expect(kilobytes).toBe(Math.round(readFileSync(to).length / 1_024));
    const images = [from, to].map((file) => `data:image/png;base64,${readFileSync(file).toString('base64')}`);
    const farthest = await page.evaluate(`Promise.all(${JSON.stringify(images)}.map(async (source) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const context = new OffscreenCanvas(300, 200).getContext('2d');
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, 300, 200).data;
    })).then(([one, other]) => one.reduce((most, value, at) => Math.max(most, Math.abs(value - other[at])), 0))`);
    expect(farthest).toBeLessThan(40);
  });
});
