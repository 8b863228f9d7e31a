import { isRecord } from '../../lib/isRecord.ts';
import { type Json, recordsIn } from '../surface/values.ts';
import { failureWarnings, MAX_AT_ONCE, type MemberAnswer } from './membership.ts';

/** Returns what a search over several members says about itself (R5.4, R5.5). */
export function searchMeta(
  memberCount: number,
  found: readonly (MemberAnswer & { hits: readonly Json[] })[],
  hits: readonly Json[],
): Json {
  const metas = found.map(({ answer, failure }) => {
    const body = failure === undefined && isRecord(answer?.body) ? answer.body : {};
    return isRecord(body.meta) ? body.meta : {};
  });
  const warnings = metas.flatMap((meta) => recordsIn(meta.warnings));
  const isPartial = found.some(({ failure }) => failure !== undefined);
  const counts = metas.map(({ count }) => count);
  const isCounted = !isPartial && counts.length > 0 && counts.every((count) => typeof count === 'number');
  const isExact = metas.every(({ count_accuracy: accuracy }) => accuracy === undefined || accuracy === 'exact');
  const recalls = metas.map(({ recall }) => recall).filter(isRecord);
  return {
    ...(isCounted && {
      count: counts.reduce<number>((sum, count) => sum + Number(count), 0),
      count_accuracy: isExact ? 'exact' : 'lower_bound',
    }),
    ...(recalls.length > 0 && { recall: recallOf(recalls) }),
    warnings: [...failureWarnings(found), ...warnings],
    package: {
      fanout_limit: MAX_AT_ONCE,
      member_count: memberCount,
      merged_hit_count: found.reduce((sum, one) => sum + one.hits.length, 0),
      returned_hit_count: hits.length,
      partial: isPartial,
      source_mix: sourceMix(hits),
    },
  };
}

const SUMMED = ['ranked_candidate_count', 'truncated_source_count', 'sources_searched_count'];

/** Combines what the sources say about how much they ranked. */
function recallOf(recalls: readonly Json[]): Json {
  const bounded = recalls.filter(
    ({ complete, ranking_scope: scope }) => complete === false || scope === 'candidate_window',
  );
  const window = bounded.map((one) => one.candidate_window_limit).find((one) => typeof one === 'number');
  const sums = SUMMED.flatMap((key) => {
    const numbers = recalls.map((one) => one[key]).filter((one) => typeof one === 'number');
    return numbers.length === 0 ? [] : [[key, numbers.reduce((sum, one) => sum + one, 0)] as const];
  });
  return {
    complete: bounded.length === 0,
    ranking_scope: bounded.length === 0 ? 'all_matches' : 'candidate_window',
    truncated: recalls.some(({ truncated }) => truncated === true),
    ...(window !== undefined && { candidate_window_limit: window }),
    ...Object.fromEntries(sums),
  };
}

function sourceMix(hits: readonly Json[]): Json[] {
  const counts = new Map<string, { hit: Json; count: number }>();
  for (const hit of hits) {
    const key = String(hit.connection_id);
    const known = counts.get(key);
    counts.set(key, { hit: known?.hit ?? hit, count: (known?.count ?? 0) + 1 });
  }
  return [...counts.values()].map(({ hit, count }) => ({
    connection_id: hit.connection_id ?? null,
    connector_key: hit.connector_key ?? null,
    display_name: hit.display_name ?? null,
    count,
  }));
}
