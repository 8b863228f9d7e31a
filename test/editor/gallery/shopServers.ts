import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { TestWorkspace } from '../../support/workspace.ts';

/** Servers of the pictures: the three of the demo, and one for each state that a server can have. */

const CUSTOMER = {
  type: 'object',
  required: ['id', 'reason'],
  properties: {
    id: { type: 'integer', minimum: 1, maximum: 9_999, description: 'Number of the customer' },
    reason: { enum: ['left', 'double', 'asked'], description: 'Why the customer goes' },
    note: { type: 'string', maxLength: 200, default: 'none' },
    notify: { type: 'array', items: { type: 'string', format: 'email' }, description: 'Addresses that get a message' },
    api_key: { type: 'string', description: 'Key of the shop' },
    until: { type: ['string', 'null'], format: 'date' },
    owner: { type: 'object', properties: { name: { type: 'string' }, team: { type: 'string' } }, required: ['name'] },
    filter: { description: 'Any condition' },
  },
};

const SHOP = [
  {
    name: 'customer_delete',
    title: 'Delete a customer',
    description: 'Deletes a customer of the shop. Orders stay, without a name.',
    annotations: { destructiveHint: true },
    inputSchema: CUSTOMER,
  },
  {
    name: 'customer_list',
    title: 'Customers',
    description: 'Lists the customers of the shop by number.',
    annotations: { readOnlyHint: true },
    inputSchema: CUSTOMER,
  },
  ...['invoice_export', 'invoice_create', 'order_find', 'order_ship', 'refund_create'].map((name) => ({
    name,
    description: `${name.replace('_', ' ')} in the shop, by its number.`,
    inputSchema: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
  })),
];

const node = (fixture: string, ...args: string[]): { command: string; args: string[] } => ({
  command: process.execPath,
  args: [resolve('test/fixtures', fixture), ...args],
});

/** Writes what the server `shop` lists. `order_find` may have another description, or the list another tool. */
export function listShop(workspace: TestWorkspace, change: { description?: string; more?: boolean } = {}): string {
  const tools = SHOP.map((tool) =>
    tool.name === 'order_find' && change.description ? { ...tool, description: change.description } : tool,
  );
  if (change.more) tools.push({ ...(SHOP[4] as (typeof SHOP)[0]), name: 'order_cancel' });
  // Not beside the configuration, which servers behind walls cannot write to.
  mkdirSync(join(workspace.folder, 'shop'), { recursive: true });
  return workspace.write('shop/list.json', JSON.stringify({ echoes: true, tools }));
}

/** Writes what the server `ledger` lists. */
export function listLedger(workspace: TestWorkspace, description: string): string {
  const inputSchema = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] };
  mkdirSync(join(workspace.folder, 'shop'), { recursive: true });
  return workspace.write('shop/ledger.json', JSON.stringify({ tools: [{ name: 'book', description, inputSchema }] }));
}

/** Returns a server of the user's own, whose changes are only reported. */
export const ledger = (listing: string): object => ({
  ...node('changingServer.mjs', listing, `${listing}.calls`),
  trust: 'tell',
});

/** Server that needs some minutes to list its tools again. */
export const SLOW = node(
  'faultServer.mjs',
  '--script',
  JSON.stringify({ steps: [2, 3].map((nth) => ({ on: 'tools/list', nth, do: [{ delay: 300_000 }, 'reply'] })) }),
);

/** Returns the servers that run. */
export function running(workspace: TestWorkspace): Record<string, object> {
  const listing = listShop(workspace);
  return {
    shop: node('changingServer.mjs', listing, `${listing}.calls`),
    works: node('server.mjs', '--wild'),
  };
}

/** Servers that need the user, or have failed, or are off. */
export const TROUBLED: Readonly<Record<string, object>> = {
  calendar: { command: process.execPath, args: ['calendar.mjs'], disabled: true },
  crashing: { command: process.execPath, args: ['-e', 'console.error("out of paper"); process.exit(3)'] },
  keyed: { ...node('server.mjs'), env: { KEY: '${secret:KEY}' } },
  missing: { command: 'no-such-program' },
};

export const WAITING = node('server.mjs', '--tools', '12');
