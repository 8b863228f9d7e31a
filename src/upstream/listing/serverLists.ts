import { METHOD_NOT_FOUND } from '../../errors/rpcCodes.ts';
import { ListTooSlow, type PagedList } from '../../mcp/wire/listPages.ts';
import { type CallOptions, type UpstreamClient, UpstreamRequestError } from '../../mcp/wire/upstreamClient.ts';
import type { ListName } from './serverCatalog.ts';

/** Lists that share one change notification. */
export type ListGroup = 'tools' | 'resources' | 'prompts';

interface GroupTerms {
  capability: string;
  changed: string;
  lists: readonly { method: string; name: ListName }[];
}

export const LIST_GROUPS: Readonly<Record<ListGroup, GroupTerms>> = {
  tools: {
    capability: 'tools',
    changed: 'notifications/tools/list_changed',
    lists: [{ method: 'tools/list', name: 'tools' }],
  },
  resources: {
    capability: 'resources',
    changed: 'notifications/resources/list_changed',
    lists: [
      { method: 'resources/list', name: 'resources' },
      { method: 'resources/templates/list', name: 'resourceTemplates' },
    ],
  },
  prompts: {
    capability: 'prompts',
    changed: 'notifications/prompts/list_changed',
    lists: [{ method: 'prompts/list', name: 'prompts' }],
  },
};

export interface GroupListed {
  lists: Partial<Record<ListName, readonly unknown[]>>;
  failures: readonly ListingFailure[];
  /** Notes about lists that were cut. */
  cuts: Partial<Record<ListName, string>>;
}

export interface ListingFailure {
  name: ListName;
  method: string;
  error: unknown;
  /** Partial list, for use if no complete one is known. */
  came?: readonly unknown[];
}

export interface ListOptions extends CallOptions {
  /** Limit for all pages of a list together. */
  limitMs: number | undefined;
}

/** Requests every list of a group. A failed list does not affect the others. */
export async function listGroup(client: UpstreamClient, group: ListGroup, options: ListOptions): Promise<GroupListed> {
  const { capability, lists } = LIST_GROUPS[group];
  const listed: Partial<Record<ListName, readonly unknown[]>> = {};
  const failures: ListingFailure[] = [];
  const cuts: Partial<Record<ListName, string>> = {};
  const declared = Boolean(client.capabilities[capability]);
  await Promise.all(
    lists.map(async ({ method, name }) => {
      try {
        const list: PagedList = declared ? await client.listAll(method, name, options) : { items: [] };
        const { items, cut: why, failure: error } = list;
        if (error === undefined) listed[name] = items;
        else failures.push({ name, method, error, ...(items.length > 0 && isOfPage(error) ? { came: items } : {}) });
        if (why) cuts[name] = `Its list of ${name} was cut: ${why}.`;
      } catch (error) {
        // A third of real servers with resources reject `resources/templates/list`: they have no templates.
        if (group !== 'tools' && isUnknownMethod(error)) listed[name] = [];
        else failures.push({ name, method, error });
      }
    }),
  );
  return { lists: listed, failures, cuts };
}

function isUnknownMethod(error: unknown): boolean {
  return error instanceof UpstreamRequestError && error.code === METHOD_NOT_FOUND;
}

/** Merges the lists of several groups. */
export function together(groups: readonly GroupListed[]): GroupListed {
  return {
    lists: Object.assign({}, ...groups.map(({ lists }) => lists)),
    failures: groups.flatMap(({ failures }) => failures),
    cuts: Object.assign({}, ...groups.map(({ cuts }) => cuts)),
  };
}

/**
 * Reports whether only a page failed, by its content or its time. A server that ended or refused access is not ready
 * with half its tools.
 */
function isOfPage(error: unknown): boolean {
  if (!(error instanceof UpstreamRequestError)) return error instanceof ListTooSlow;
  return /^(?:timeout|protocol|error)$/.test(error.failure) && error.retryAfterSeconds === undefined;
}

/** Returns the parts of a catalog beside the lists. An absent instruction replaces an old one. */
export function introductionOf({ capabilities, instructions }: UpstreamClient) {
  return { capabilities, instructions };
}
