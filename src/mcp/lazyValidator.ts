import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';

/**
 * Creates the validator on first use. The SDK makes one for every session and server, ten milliseconds each, and hardly
 * any is ever used.
 */
export function lazyValidator(): jsonSchemaValidator {
  let made: AjvJsonSchemaValidator | undefined;
  return {
    getValidator: (schema) => {
      made ??= new AjvJsonSchemaValidator();
      return made.getValidator(schema);
    },
  };
}
