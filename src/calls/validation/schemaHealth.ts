import type { CatalogTool, RefreshFinding } from '../../catalog/types.ts';
import { CALL_BLOCKS, type CallSettings } from '../../config/declaration/callBlocks.ts';
import { metaProblem } from './metaSchema.ts';
import { profileSchema, type SchemaProfile } from './schemaProfile.ts';

/** Bounds of a schema that is compiled. */
export type SchemaLimits = CallSettings['schemaLimits'];
export const SCHEMA_LIMITS: SchemaLimits = CALL_BLOCKS.schemaLimits.defaultValue;

export type SchemaFindingKind =
  | 'not_well_formed'
  | 'size_exceeded'
  | 'depth_exceeded'
  | 'properties_exceeded'
  | 'branches_exceeded'
  | 'refs_exceeded';

export interface SchemaFinding {
  kind: SchemaFindingKind;
  detail: string;
}

/** Returns everything that is wrong with a server's schema; nothing if the schema is absent. */
export function checkSchemaHealth(schema: unknown, limits: SchemaLimits = SCHEMA_LIMITS): SchemaFinding[] {
  if (schema === undefined || schema === null) return [];
  const findings = limitFindings(profileSchema(schema), limits);
  // The check against the meta-schema takes time in proportion to the schema's size, so the limits come first.
  if (findings.length > 0) return findings;
  const problem = metaProblem(schema);
  return problem === undefined ? [] : [{ kind: 'not_well_formed', detail: problem }];
}

export function limitFindings(profile: SchemaProfile, limits: SchemaLimits = SCHEMA_LIMITS): SchemaFinding[] {
  const findings: SchemaFinding[] = [];
  const check = (kind: SchemaFindingKind, actual: number, limit: number, unit: string): void => {
    const atLeast = profile.truncated ? 'at least ' : '';
    if (actual > limit) findings.push({ kind, detail: `${atLeast}${actual} ${unit} > ${limit}` });
  };
  check('size_exceeded', profile.bytes, limits.maxBytes, 'bytes');
  check('depth_exceeded', profile.depth, limits.maxDepth, 'levels');
  check('properties_exceeded', profile.properties, limits.maxProperties, 'properties');
  check('branches_exceeded', profile.branches, limits.maxBranches, 'branches of anyOf, oneOf and allOf');
  check('refs_exceeded', profile.refs, limits.maxRefs, 'references');
  return findings;
}

/** Returns findings about the schemas of a refreshed catalog, which keeps every tool. */
export function schemaFindings(
  tools: readonly Pick<CatalogTool, 'server' | 'upstreamName' | 'inputSchema'>[],
  options: { limits?: SchemaLimits } = {},
): RefreshFinding[] {
  const findings: RefreshFinding[] = [];
  for (const { server, upstreamName, inputSchema } of tools) {
    for (const { kind, detail } of checkSchemaHealth(inputSchema, options.limits)) {
      const reason = `its input schema is ${kind.replaceAll('_', ' ')}: ${detail}`;
      findings.push({ server, tool: upstreamName, kind: 'flagged', reason });
    }
  }
  return findings;
}
