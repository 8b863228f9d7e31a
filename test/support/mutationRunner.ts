import { type SerializedConfig, TestRunner } from 'vitest';

/**
 * Stryker joins test titles with a blank, vitest 5 with ` > `. Without this runner Stryker would run no test for any
 * mutant, and all mutants would survive.
 */
// biome-ignore lint/style/noDefaultExport: vitest requires a runner as the default export
export default class MutationRunner extends TestRunner {
  constructor(config: SerializedConfig) {
    const pattern = config.testNamePattern;
    super(pattern ? { ...config, testNamePattern: new RegExp(pattern.source.replaceAll(' ', '(?: | > )')) } : config);
  }
}
