/** `npm run docs`: writes the generated parts of the documentation. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPAIR_RULES } from '../src/calls/validation/argRepairs.ts';
import { documentSchema } from '../src/config/declaration/document.ts';
import { FAULT_CODES } from '../src/errors/faultCodes.ts';
import { NORMALISATION_RULES } from '../src/text/normalise.ts';
import {
  configurationKeys,
  editorSchema,
  faultTable,
  ruleTable,
  schemaText,
  withGenerated,
} from './lib/generatedDocs.mjs';

const root = join(import.meta.dirname, '..');
const schema = documentSchema();
writeFileSync(join(root, 'media/waygate.schema.json'), schemaText(schema));
writeFileSync(join(root, 'media/waygate.editor.schema.json'), schemaText(editorSchema(schema)));
console.log('Wrote media/waygate.schema.json and media/waygate.editor.schema.json.');

for (const [file, part] of [
  ['docs/configuration.md', configurationKeys(schema)],
  ['docs/reliability.md', faultTable(FAULT_CODES)],
  ['docs/answers.md', ruleTable(NORMALISATION_RULES, REPAIR_RULES)],
]) {
  const path = join(root, file ?? '');
  writeFileSync(path, withGenerated(readFileSync(path, 'utf8'), part ?? ''));
  console.log(`Wrote ${file}.`);
}
