import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';

/**
 * The SDK makes a validator for every session and every server that it speaks to, ten milliseconds each, and hardly
 * any ever judges anything: this one is made when it has to.
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
