export type SelectionRepair = 'strip' | 'case_fold' | 'prefix';

export interface SelectionValidation {
  status: 'accepted' | 'repaired' | 'rejected';
  selectedId: string | null;
  rawId: string;
  repair: SelectionRepair | null;
  reason: 'empty_selection' | 'ambiguous_case_fold' | 'ambiguous_prefix' | 'not_a_candidate' | null;
}

/**
 * Matches a selection (G12.2): exactly, then trimmed, then the only candidate that matches without case, then the only prefix. Rejects
 * ambiguity.
 */
export function validateSelection(
  id: string | null | undefined,
  offered: readonly string[],
  options: { repair?: boolean } = {},
): SelectionValidation {
  const rawId = id ?? '';
  const candidates = [...new Set(offered)];
  const rejected = (reason: NonNullable<SelectionValidation['reason']>): SelectionValidation => ({
    status: 'rejected',
    selectedId: null,
    rawId,
    repair: null,
    reason,
  });
  const repaired = (selectedId: string, repair: SelectionRepair): SelectionValidation => ({
    status: 'repaired',
    selectedId,
    rawId,
    repair,
    reason: null,
  });
  const stripped = rawId.trim();
  if (stripped === '') return rejected('empty_selection');
  if (candidates.includes(stripped)) {
    if (stripped === rawId) return { status: 'accepted', selectedId: stripped, rawId, repair: null, reason: null };
    return repaired(stripped, 'strip');
  }
  if (options.repair === false) return rejected('not_a_candidate');
  const folded = stripped.toLowerCase();
  const sameFolded = candidates.filter((candidate) => candidate.toLowerCase() === folded);
  if (sameFolded.length === 1) return repaired(sameFolded[0] as string, 'case_fold');
  if (sameFolded.length > 1) return rejected('ambiguous_case_fold');
  const prefixed = candidates.filter((candidate) => candidate.toLowerCase().startsWith(folded));
  if (prefixed.length === 1) return repaired(prefixed[0] as string, 'prefix');
  return rejected(prefixed.length > 1 ? 'ambiguous_prefix' : 'not_a_candidate');
}
