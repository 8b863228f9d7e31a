/** Fields of the manifest whose texts VS Code shows. */
const SHOWN = new Set(['title', 'name', 'contents', 'description', 'markdownDescription', 'markdownEnumDescriptions']);

/** The name of the product is the same in every language. */
const SAME = new Set(['Waygate']);

export interface TranslatedManifest {
  manifest: Record<string, unknown>;
  /** Texts of `package.nls.json`, by key. */
  texts: Record<string, string>;
}

/** Replaces the texts of a manifest by keys, so that a `package.nls.LANGUAGE.json` translates them. */
export function withKeys(manifest: Readonly<Record<string, unknown>>): TranslatedManifest {
  const texts: Record<string, string> = {};
  const keyed = (value: unknown, path: readonly string[]): unknown => {
    if (Array.isArray(value)) return value.map((item, index) => keyed(item, [...path, nameOf(item) ?? String(index)]));
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value).map(([field, inner]) => {
      if (typeof inner !== 'string' || !SHOWN.has(field) || SAME.has(inner))
        return [field, keyed(inner, [...path, field])];
      const key = [...path, field].filter((part) => part !== 'contributes').join('.');
      if (key in texts) throw new Error(`Two texts of the manifest have the key ${key}.`);
      texts[key] = inner;
      return [field, `%${key}%`];
    });
    return Object.fromEntries(fields);
  };
  return { manifest: keyed(manifest, []) as Record<string, unknown>, texts };
}

/** Names an item of a list by its id, so that a key stays when another item comes before it. */
function nameOf(item: unknown): string | undefined {
  if (typeof item !== 'object' || item === null) return undefined;
  const { id, command, when, view } = item as Record<string, unknown>;
  const name = id ?? command ?? (view !== undefined ? `${view} ${when}` : undefined);
  return typeof name === 'string' ? name.replace(/[^\w.-]+/g, '_') : undefined;
}
