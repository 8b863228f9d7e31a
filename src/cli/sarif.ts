import { pathToFileURL } from 'node:url';
import type { ServerScan } from '../control/trustContract.ts';
import { VERSION } from '../lib/build.ts';
import { visibleText } from '../text/visibleText.ts';
import { SCAN_RULES, type ScanRule } from '../trust/scan/finding.ts';

const RULES = Object.keys(SCAN_RULES) as readonly ScanRule[];
const SARIF_SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json';

/** Returns the findings as SARIF 2.1.0. A finding is located at its server in the configuration. */
export function sarifOf(scans: readonly ServerScan[]): object {
  return {
    $schema: SARIF_SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'waygate scan',
            version: VERSION,
            rules: RULES.map((id) => ({ id, shortDescription: { text: SCAN_RULES[id] } })),
          },
        },
        results: scans.flatMap(resultsOf),
      },
    ],
  };
}

function resultsOf({ server, entries, location }: ServerScan): object[] {
  return entries.flatMap(({ kind, name, findings }) =>
    findings.map(({ rule, tier, where, quote }) => ({
      ruleId: rule,
      ruleIndex: RULES.indexOf(rule),
      level: tier === 'hard' ? 'error' : 'warning',
      message: { text: visibleText(`${server}: ${kind} ${name} at ${where}: ${quote}`) },
      locations: [
        {
          ...(location && {
            physicalLocation: {
              artifactLocation: { uri: pathToFileURL(location.file).href },
              region: { startLine: location.line, startColumn: location.column },
            },
          }),
          logicalLocations: [
            {
              name: visibleText(name || kind),
              fullyQualifiedName: visibleText(`${server}/${kind}/${name}${where}`),
              kind: 'member',
            },
          ],
        },
      ],
    })),
  );
}
