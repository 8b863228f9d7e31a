import type { Catalog } from '../../catalog/catalog.ts';
import {
  buildPrimitiveCatalog,
  type OfferedPrompt,
  type OfferedResource,
  type PrimitiveCatalog,
  type PrimitiveListing,
  unlistedChoice,
  unlistedPrompt,
} from '../../catalog/primitives/primitiveCatalog.ts';
import { matchesTemplate } from '../../catalog/primitives/uriTemplate.ts';
import type { CatalogTool } from '../../catalog/types.ts';
import { buildRankIndex, type RankIndex } from '../../ranking/rankIndex.ts';
import { advertisedNames, PROMPT_NAME } from '../shared/catalog/advertisedNames.ts';
import { ResourceDirectory } from './resourceDirectory.ts';

/** Choices of one kind: tools, resources and prompts never mix (G10.6). */
export interface Choices {
  catalog: Catalog;
  readonly index: RankIndex;
}

/** Resources and prompts of the servers at one moment. Immutable, like the catalog view (G8.1). */
export class PrimitiveView {
  readonly catalog: PrimitiveCatalog;
  readonly resources: Choices;
  readonly prompts: Choices;
  readonly resourceDirectory: ResourceDirectory;
  readonly promptDirectory: PromptDirectory;
  readonly #resourceById: ReadonlyMap<string, OfferedResource>;
  readonly #promptById: ReadonlyMap<string, OfferedPrompt>;
  readonly #idByAddress: ReadonlyMap<string, string>;

  constructor(listings: readonly PrimitiveListing[]) {
    this.catalog = buildPrimitiveCatalog(listings);
    this.resources = choices(this.catalog.resourceChoices);
    this.prompts = choices(this.catalog.promptChoices);
    this.resourceDirectory = new ResourceDirectory(this.catalog);
    this.promptDirectory = new PromptDirectory(this.catalog.prompts);
    this.#resourceById = new Map(this.catalog.resources.map((resource) => [resource.id, resource]));
    this.#idByAddress = new Map(
      this.catalog.resources
        .map(({ server, uri, id }): [string, string] => [addressKey(server, uri), id])
        // A resource has priority over a template of the same spelling.
        .reverse(),
    );
    this.#promptById = new Map(this.catalog.prompts.map((prompt) => [prompt.id, prompt]));
  }

  resource(id: string): OfferedResource | undefined {
    return this.#resourceById.get(id);
  }

  prompt(id: string): OfferedPrompt | undefined {
    return this.#promptById.get(id);
  }

  /** Returns a resource or prompt in the form that rules and cards use. */
  choice(id: string): CatalogTool | undefined {
    return this.resources.catalog.byId.get(id) ?? this.prompts.catalog.byId.get(id);
  }

  /**
   * Returns the resource at a server's own address in the form that rules use: the listed one, or the template that
   * matches the address. A server may have more resources than it lists.
   */
  choiceAt({ server, uri }: { server: string; uri: string }): CatalogTool {
    const id = this.#idByAddress.get(addressKey(server, uri)) ?? this.#templateFor(server, uri);
    const listed = id === undefined ? undefined : this.resources.catalog.byId.get(id);
    return listed ?? unlistedChoice(uri, server, this.#namespaceOf(server));
  }

  /** Returns the prompt with a server's own name in the form that rules use. */
  promptAt({ server, name }: { server: string; name: string }): CatalogTool {
    const listed = this.catalog.prompts.find((prompt) => prompt.server === server && prompt.name === name);
    const choice = listed && this.prompts.catalog.byId.get(listed.id);
    return choice ?? unlistedPrompt(name, server, this.#namespaceOf(server));
  }

  /** Returns the namespace of a server. A server that was just added has none yet. */
  #namespaceOf(server: string): string {
    return this.catalog.namespaces.get(server) ?? 'mcp';
  }

  #templateFor(server: string, uri: string): string | undefined {
    return this.catalog.resources.find(
      (resource) => resource.isTemplate && resource.server === server && matchesTemplate(resource.uri, uri),
    )?.id;
  }
}

function addressKey(server: string, uri: string): string {
  return `${server}\n${uri}`;
}

/** Builds the index at the first search, since many sessions never search. */
function choices(catalog: Catalog): Choices {
  let index: RankIndex | undefined;
  return {
    catalog,
    get index() {
      index ??= buildRankIndex(catalog.tools, catalog.servers);
      return index;
    },
  };
}

/**
 * Prompts of all servers as one client sees them. A legal and unique name stays unchanged. Any other name gets its
 * namespace as a prefix and is shortened to fit. Each name leads back to exactly one prompt.
 */
export class PromptDirectory {
  /** Prompts in the client's list, with the client's names. */
  readonly prompts: readonly Readonly<Record<string, unknown>>[];
  readonly #byName: ReadonlyMap<string, OfferedPrompt>;

  constructor(prompts: readonly OfferedPrompt[]) {
    const sharers = new Map<string, number>();
    for (const { name } of prompts) sharers.set(name, (sharers.get(name) ?? 0) + 1);
    const keepsName = ({ name }: OfferedPrompt): boolean => PROMPT_NAME.test(name) && sharers.get(name) === 1;
    const others = prompts.filter((prompt) => !keepsName(prompt));
    const names = advertisedNames(
      others.map(({ id, namespace, name }) => ({ id, name: `${namespace}.${name}` })),
      // Unchanged names have priority over generated ones.
      new Set(prompts.filter(keepsName).map(({ name }) => name)),
      'prompt',
    );
    const nameOf = ({ id, name }: OfferedPrompt): string => names.get(id) ?? name;
    this.prompts = prompts.map((prompt) => ({ ...prompt.raw, name: nameOf(prompt) }));
    this.#byName = new Map(prompts.map((prompt) => [nameOf(prompt), prompt]));
  }

  get(name: string): OfferedPrompt | undefined {
    return this.#byName.get(name);
  }
}
