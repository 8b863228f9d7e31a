import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ServerListing } from '../../src/catalog/types.ts';
import { PseudoRandom } from '../support/pseudoRandom.ts';

/** Tools of real servers. Their texts belong to the servers' authors, so the file is not part of the repository. */
const REAL_TOOLS = resolve('../shared/data/catalog/real-tools.json');

/** Returns the listings of real servers when their file is beside the clone, otherwise generated ones. */
export function sampleListings(): ServerListing[] {
  return existsSync(REAL_TOOLS) ? realListings() : generatedListings(12, 60);
}

/** Returns the definition of a tool of a real server, if their file is beside the clone. */
export function realTool(server: string, name: string): { name: string; inputSchema: unknown } | undefined {
  const found = existsSync(REAL_TOOLS) ? realListings().find((listing) => listing.server === server) : undefined;
  return (found?.tools as { name: string; inputSchema: unknown }[] | undefined)?.find((tool) => tool.name === name);
}

function realListings(): ServerListing[] {
  const { tools } = JSON.parse(readFileSync(REAL_TOOLS, 'utf8')) as { tools: { server: string }[] };
  const servers = [...new Set(tools.map((tool) => tool.server))];
  return servers.map((server) => ({ server, tools: tools.filter((tool) => tool.server === server) }));
}

const VERBS = ['create', 'get', 'list', 'update', 'delete', 'search', 'archive'];
const NOUNS = [
  'issue',
  'pull_request',
  'project',
  'label',
  'team_member',
  'invoice',
  'release_note',
  'webhook',
  'file',
];
const STYLES = [
  (words: string[]) => words.join('_'),
  (words: string[]) => words.join('-'),
  (words: string[]) =>
    words.map((word, at) => (at === 0 ? word : (word[0] ?? '').toUpperCase() + word.slice(1))).join(''),
];

/** Generates servers with the given number of tools, in the naming styles of real servers. */
export function generatedListings(servers: number, toolsEach: number): ServerListing[] {
  return Array.from({ length: servers }, (_, at) => {
    const style = STYLES[at % STYLES.length] as (words: string[]) => string;
    const tools = Array.from({ length: toolsEach }, (_, index) => {
      const verb = VERBS[index % VERBS.length] as string;
      const noun = NOUNS[Math.floor(index / VERBS.length) % NOUNS.length] as string;
      const round = Math.floor(index / (VERBS.length * NOUNS.length));
      const words = [verb, ...noun.split('_'), ...(round > 0 ? [`part${round}`] : [])];
      return {
        name: style(words),
        description: `${verb} one ${noun.replace('_', ' ')} of server ${at}. It says which by its id.`,
        inputSchema: { type: 'object', properties: { id: { type: 'string' }, body: {} }, required: ['id'] },
      };
    });
    return { server: `server-${at}`, tools };
  });
}

/** Shuffles in the same way in every run. */
export function shuffled<T>(items: readonly T[], seed: number): T[] {
  const random = new PseudoRandom(seed);
  return items
    .map((item) => ({ item, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
