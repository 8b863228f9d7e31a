import { describe, expect, it } from 'vitest';
import { gatewayNames } from '../../src/extension/folders/gatewayNames.ts';

/** Prefix of the instructions of a server, as Copilot builds it. */
function copilotPrefix(name: string): string {
  const prefix = `mcp_${name.toLowerCase().replace(/[^a-z0-9_.-]/g, '_')}`.slice(0, 17);
  return prefix.split('_').slice(0, 2).join('_');
}

const ADVERSARIAL = [
  'first',
  'api',
  'api',
  'API',
  'a_p_i',
  'my_folder',
  'my folder',
  'my-folder',
  'the-services-of-the-shop',
  'the-services-of-the-shop-2',
  'the-services',
  '数据',
  'данные',
  '🚀',
  '🚀🚀',
  '',
  ' ',
  '---',
  '_',
  '..',
  'waygate',
  'waygate-waygate',
  'x'.repeat(5_000),
  'x'.repeat(5_001),
  'a\nb',
  '</instruction>',
  '__proto__',
];

describe('the name of a gateway', () => {
  it('is waygate in the first folder', () => {
    expect(gatewayNames(['any_folder'])).toEqual(['waygate']);
  });

  it('is the name of a further folder where that is short, else its beginning and a check', () => {
    expect(gatewayNames(['shop', 'api', 'docs2', 'frontend', 'my_folder'])).toEqual([
      'waygate',
      'api-waygate',
      'docs2-waygate',
      'frontend-wpzo',
      expect.stringMatching(/^my-folde-[a-z0-9]{4}$/),
    ]);
  });

  it('keeps the tools and the instructions of all gateways apart in Copilot', () => {
    const names = gatewayNames(ADVERSARIAL);
    for (const name of names) expect(name).toMatch(/^[a-z0-9][a-z0-9-]{0,12}$/);
    expect(names.map(copilotPrefix)).toEqual(names.map((name) => `mcp_${name}`));
    expect(new Set(names.map(copilotPrefix)).size).toBe(ADVERSARIAL.length);
  });

  it('stays when folders are added behind it, and is the same every time', () => {
    for (let length = 1; length <= ADVERSARIAL.length; length++) {
      const some = ADVERSARIAL.slice(0, length);
      expect(gatewayNames(some)).toEqual(gatewayNames(ADVERSARIAL).slice(0, length));
    }
  });

  it('differs for many folders whose names begin alike', () => {
    const names = gatewayNames(Array.from({ length: 3_000 }, (_, index) => `repository ${index}`));
    expect(new Set(names).size).toBe(3_000);
  });
});
