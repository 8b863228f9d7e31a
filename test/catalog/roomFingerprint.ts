import { createHash } from 'node:crypto';
import { toCard } from '../../src/catalog/cards/card.ts';
import { cardsWithinBudget } from '../../src/catalog/cards/cardBudget.ts';
import { buildCatalog } from '../../src/catalog/catalog.ts';
import { generatedListings, shuffled } from './sampleListings.ts';

/** Names whose order or case depends on the locale, if any code uses it: Turkish i, Swedish å, digits, punctuation. */
const listings = [
  ...generatedListings(4, 40),
  ...['İstanbul', 'istanbul', 'ISTANBUL', 'Ångström', 'zebra', 'ä-server'].map((server) => ({
    server,
    tools: ['TITLE_İ', 'title_i', 'TITLE_I', 'ärger', 'zoo', 'item10', 'item9', '_x', '-x'].map((name) => ({ name })),
  })),
];

/** Hashes everything that the room computes from these listings. */
export function fingerprintOfRoom(order: number): string {
  const catalog = buildCatalog(shuffled(listings, order));
  const { cards } = cardsWithinBudget(catalog.tools, toCard);
  const { tools, graph, servers, findings, hash } = catalog;
  return createHash('sha256')
    .update(JSON.stringify({ tools, nodes: graph.nodes, servers, findings, hash, cards }))
    .digest('hex');
}
