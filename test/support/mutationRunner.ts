import { type SerializedConfig, TestRunner } from 'vitest';

/**
 * Stryker names a test by its titles with a blank between them, vitest 5 by the same with ` > `: without this no test
 * would be run for any mutant, and all of them would survive.
 */
// biome-ignore lint/style/noDefaultExport: vitest takes a runner as the default export of its file
export default class MutationRunner extends TestRunner {
  constructor(config: SerializedConfig) {
    const pattern = config.testNamePattern;
    super(pattern ? { ...config, testNamePattern: new RegExp(pattern.source.replaceAll(' ', '(?: | > )')) } : config);
  }
}
