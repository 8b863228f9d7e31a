import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { HttpServerConfig } from '../../src/config/gatewayConfig.ts';
import { ServerEras } from '../../src/upstream/listing/serverEras.ts';
import { stdioConfig } from '../support/connection.ts';
import { temporaryFolder } from '../support/workspace.ts';

const WEEK_MS = 7 * 24 * 60 * 60_000;
const config = (url = 'https://example.com/mcp'): HttpServerConfig => ({
  ...(stdioConfig({}) as unknown as HttpServerConfig),
  type: 'http',
  url,
  headers: {},
});

function kept() {
  const file = join(temporaryFolder('wg-eras-'), 'eras.json');
  let now = 1_000_000;
  const log: string[] = [];
  const open = (): ServerEras =>
    new ServerEras(
      file,
      (line) => void log.push(line),
      () => now,
    );
  const pass = (ms: number): void => {
    now += ms;
  };
  return { file, open, pass, log };
}

describe('the verdicts about eras', () => {
  it('hold for a week, over workers', () => {
    const { open, pass } = kept();
    open().forStart(config())?.onFound('modern', '2026-07-28', true);
    expect(open().of('one')).toEqual({ era: 'modern', version: '2026-07-28', at: 1_000_000 });
    pass(WEEK_MS - 1);
    expect(open().forStart(config())?.known).toBe('modern');
    pass(1);
    expect(open().forStart(config())?.known).toBeUndefined();
    // The last verdict is shown until there is another.
    expect(open().of('one')?.era).toBe('modern');
  });

  it('keep their date while starts confirm them, so that the week ends', () => {
    const { open, pass } = kept();
    const eras = open();
    eras.forStart(config())?.onFound('legacy', '2025-06-18', true);
    pass(WEEK_MS - 5);
    eras.forStart(config())?.onFound('legacy', '2025-06-18', true);
    expect(eras.of('one')?.at).toBe(1_000_000);
    pass(5);
    eras.forStart(config())?.onFound('legacy', '2025-06-18', true);
    expect(eras.of('one')?.at).toBe(1_000_000 + WEEK_MS);
  });

  it('are not for another configuration, and not for one that left the era open', () => {
    const { open } = kept();
    const eras = open();
    eras.forStart(config())?.onFound('legacy', '2025-06-18', false);
    expect(eras.forStart(config())?.known).toBeUndefined();
    eras.forStart(config())?.onFound('legacy', '2025-06-18', true);
    expect(eras.forStart(config())?.known).toBe('legacy');
    expect(eras.forStart(config('https://example.com/other'))?.known).toBeUndefined();
  });

  it('end with a doubt, and with the server', () => {
    const { open } = kept();
    const eras = open();
    eras.forStart(config())?.onFound('modern', '2026-07-28', true);
    eras.forStart(config())?.onDoubt();
    expect(open().of('one')).toBeUndefined();
    eras.forStart(config())?.onFound('modern', '2026-07-28', true);
    eras.keepOnly(['one', 'two']);
    expect(open().of('one')?.era).toBe('modern');
    eras.keepOnly(['two']);
    expect(open().of('one')).toBeUndefined();
  });

  it('are none of servers without a choice', () => {
    const { open } = kept();
    const listing = { tools: [], resources: [], prompts: [] };
    const fixed = { ...config(), type: 'static', listing } as unknown as Parameters<ServerEras['forStart']>[0];
    expect(open().forStart(fixed)).toBeUndefined();
  });

  it.each([
    ['no JSON', '{'],
    ['another format', '{"format":9,"servers":{"one":{}}}'],
    ['a wrong verdict', '{"format":1,"servers":{"one":{"key":"k","era":"future","version":"1","at":1,"isSure":true}}}'],
  ])('count as missing in a file with %s, which the next verdict replaces', (_what, content) => {
    const { file, open } = kept();
    writeFileSync(file, content, { mode: 0o600 });
    const eras = open();
    expect(eras.of('one')).toBeUndefined();
    eras.forStart(config())?.onFound('modern', '2026-07-28', true);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ servers: { one: { era: 'modern' } } });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('are reported once if they cannot be written, and hold in this process', () => {
    const log: string[] = [];
    const eras = new ServerEras(
      join(temporaryFolder('wg-eras-'), 'missing', 'eras.json'),
      (line) => void log.push(line),
    );
    eras.forStart(config())?.onFound('modern', '2026-07-28', true);
    expect(log).toEqual([expect.stringContaining('the versions of MCP of servers could not be saved')]);
    expect(eras.forStart(config())?.known).toBe('modern');
  });
});
