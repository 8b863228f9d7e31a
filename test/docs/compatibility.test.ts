import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (file: string): string => readFileSync(file, 'utf8');

/** Rows of the table that `npm run test:clients` writes: client, transport and the other cells. */
const rows = [...read('docs/compatibility.md').matchAll(/^\| ([^|]+ \([\d.]+\)) \| (stdio|HTTP) \| (.*) \|$/gm)].map(
  ([, client = '', transport, cells = '']) => ({ client, transport, cells: cells.split(' | ') }),
);

it('docs/compatibility.md has every pinned client over both transports', () => {
  const { dependencies } = JSON.parse(read('test/clients/package.json')) as { dependencies: Record<string, string> };
  const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> };
  const own = ['sdk', 'client', 'inspector'].map((name) => devDependencies[`@modelcontextprotocol/${name}`]);
  for (const version of [...Object.values(dependencies), ...own]) {
    const transports = rows.filter(({ client }) => client.endsWith(`(${version})`)).map(({ transport }) => transport);
    expect(new Set(transports), version).toEqual(new Set(['stdio', 'HTTP']));
  }
});

it('docs/compatibility.md has a revision in every cell, and no call that fails', () => {
  expect(rows.length).toBeGreaterThan(20);
  for (const { client, cells } of rows) {
    expect(cells[0], client).toMatch(/^`(initialize|server\/discover)`$/);
    const [revisions, approval] = [cells.slice(1, -1), cells.at(-1)];
    expect(revisions, client).toHaveLength(7);
    expect(revisions.filter((cell) => !/^20\d\d-\d\d-\d\d$/.test(cell))).toEqual([]);
    expect(approval, client).toMatch(/^(asks|declines|reads the command)$/);
  }
});
