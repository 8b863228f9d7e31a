import { describe, expect, it } from 'vitest';
import { knownSecrets, scrubSecrets } from '../../src/secrets/mask.ts';
import { cachedScrub } from '../../src/worker/reports/cachedScrub.ts';

function counted() {
  const searched: string[] = [];
  const scrub = cachedScrub((text) => {
    searched.push(text);
    return text.replace(/secret\d*/, '***');
  });
  return { searched, scrub };
}

describe('a text without secrets', () => {
  it('is scanned once', () => {
    const { searched, scrub } = counted();
    for (let i = 0; i < 3; i++) expect(scrub('tool_execute')).toBe('tool_execute');
    expect(searched).toEqual(['tool_execute']);
  });

  it('is remembered within a bound, and only if it is short', () => {
    const { searched, scrub } = counted();
    for (let i = 0; i < 1_001; i++) scrub(`t${i}`);
    scrub('t0');
    expect(searched).toHaveLength(1_002);
    for (let i = 0; i < 2; i++) scrub('x'.repeat(301));
    expect(searched).toHaveLength(1_004);
  });

  it('is remembered, unlike a text with a secret, which is masked each time', () => {
    const { searched, scrub } = counted();
    for (let i = 0; i < 2; i++) expect(scrub('a secret7')).toBe('a ***');
    expect(searched).toHaveLength(2);
  });

  it('is scanned again after a new secret became known', () => {
    const scrub = cachedScrub(scrubSecrets);
    expect(scrub('is Rc8-kept here')).toBe('is Rc8-kept here');
    knownSecrets.learn('a test', ['Rc8-kept']);
    expect(scrub('is Rc8-kept here')).toBe('is [REDACTED-SECRET] here');
  });
});
