import { globMatches } from '../../../src/lib/glob.ts';

/** Selects the tools of a catalog that a client sees, by globs and by an inventory's entries. */
export interface VisibilityProfile {
  name: string;
  include_namespaces?: readonly string[];
  exclude_namespaces?: readonly string[];
  include_domains?: readonly string[];
  exclude_domains?: readonly string[];
  exclude_risk_levels?: readonly string[];
  allow_side_effects?: readonly string[];
  exclude_lifecycles?: readonly string[];
  environments?: readonly string[];
}

export interface InventoryEntry {
  domain?: string;
  risk_level?: string;
  side_effects?: string;
  lifecycle?: string;
  environments?: readonly string[];
}

/**
 * Returns whether a tool passes the profile. Without an inventory entry, exclusions do not match (open) and inclusions
 * fail (closed).
 */
export function isVisible(profile: VisibilityProfile, namespace: string, inventory: InventoryEntry | null): boolean {
  const entry = inventory ?? {};
  const excluded =
    matchesAny(profile.exclude_namespaces, namespace) ||
    matchesAny(profile.exclude_domains, entry.domain) ||
    isOneOf(profile.exclude_risk_levels, entry.risk_level) ||
    isOneOf(profile.exclude_lifecycles, entry.lifecycle);
  return (
    !excluded &&
    (profile.include_namespaces === undefined || matchesAny(profile.include_namespaces, namespace)) &&
    (profile.include_domains === undefined || matchesAny(profile.include_domains, entry.domain)) &&
    (profile.allow_side_effects === undefined || isOneOf(profile.allow_side_effects, entry.side_effects)) &&
    (profile.environments === undefined ||
      entry.environments?.some((environment) => isOneOf(profile.environments, environment)) === true)
  );
}

function matchesAny(globs: readonly string[] | undefined, value: string | undefined): boolean {
  return value !== undefined && globs?.some((glob) => globMatches(glob, value)) === true;
}

function isOneOf(values: readonly string[] | undefined, value: string | undefined): boolean {
  return value !== undefined && values?.includes(value) === true;
}
