import type { LanguageParts } from './language/configurationLanguage.ts';

/** Loads the language features with the first gateway, so that activation does not load a JSON parser. */
export function languageFeatures(parts: LanguageParts, failed: (error: unknown) => void): { dispose(): void } {
  let features: { dispose(): void } | undefined;
  let isDisposed = false;
  const load = async (): Promise<void> => {
    const { configurationLanguage } = await import('./language/configurationLanguage.ts');
    if (!isDisposed) features = configurationLanguage(parts);
  };
  const loadOnce = (): void => {
    if (parts.gateway.value.link.kind !== 'attached') return;
    watching.dispose();
    load().catch(failed);
  };
  const watching = parts.gateway.onChange(loadOnce);
  loadOnce();
  return {
    dispose: () => {
      isDisposed = true;
      watching.dispose();
      features?.dispose();
    },
  };
}
