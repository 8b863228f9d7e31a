import type { OfferedPrompt } from '../../catalog/primitives/primitiveCatalog.ts';
import { sha256 } from '../../catalog/shapeHash.ts';

/** Names that every client accepts. */
const NAME = /^[A-Za-z0-9_.-]{1,64}$/;
const MAX_NAME = 64;
const HASH_CHARS = 8;

/**
 * The prompts of all servers as one client sees them. A name is passed on as it came where it is legal and nobody else
 * has it; otherwise it stands behind its namespace, made to fit. Both ways it leads back to the one prompt.
 */
export class PromptDirectory {
  /** As a client lists them: the names are its own. */
  readonly prompts: readonly Readonly<Record<string, unknown>>[];
  readonly #byName = new Map<string, OfferedPrompt>();

  constructor(prompts: readonly OfferedPrompt[]) {
    const sharers = new Map<string, number>();
    for (const { name } of prompts) sharers.set(name, (sharers.get(name) ?? 0) + 1);
    const keepsName = ({ name }: OfferedPrompt): boolean => NAME.test(name) && sharers.get(name) === 1;
    // Who keeps a name has it before any that is made.
    for (const prompt of prompts) if (keepsName(prompt)) this.#byName.set(prompt.name, prompt);
    const names = prompts.map((prompt) => (keepsName(prompt) ? prompt.name : this.#madeName(prompt)));
    this.prompts = prompts.map(({ raw }, index) => ({ ...raw, name: names[index] as string }));
  }

  get(name: string): OfferedPrompt | undefined {
    return this.#byName.get(name);
  }

  #madeName(prompt: OfferedPrompt): string {
    const wanted = `${prompt.namespace}.${prompt.name.replaceAll(/[^A-Za-z0-9_.-]/g, '_')}`;
    const isFree = wanted.length <= MAX_NAME && !this.#byName.has(wanted);
    // By what it is and not by its place in the list, so that it keeps its name.
    const hash = sha256(`${prompt.server}\n${prompt.name}`).slice(0, HASH_CHARS);
    const name = isFree ? wanted : `${wanted.slice(0, MAX_NAME - HASH_CHARS - 1)}-${hash}`;
    this.#byName.set(name, prompt);
    return name;
  }
}
