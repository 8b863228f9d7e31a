import type { ServerOddity } from '../control/contract.ts';
import type { Oddities, Oddity } from '../mcp/wire/oddities.ts';

/** What a person is told of each: something of which there were several. */
const WORDS: Readonly<Record<Oddity, string>> = {
  garbage_line: 'lines on stdout that are no messages',
  cut_line: 'lines that its end cut off',
  byte_order_mark: 'byte order marks before a message',
  invalid_utf8: 'messages that are no valid UTF-8',
  frame_too_large: 'messages above the limit of 16 MiB',
  frame_too_deep: 'messages that are nested too deeply',
  duplicate_member: 'messages in which a member stands twice',
  malformed_response: 'answers that are no valid JSON-RPC',
  malformed_request: 'requests that are no valid JSON-RPC',
  bad_result: 'results of the wrong form',
  batch: 'messages in a batch, which its version of MCP does not have',
  null_id: 'answers without an id',
  mistyped_id: 'answers whose id is of another type than that of the request',
  unknown_response: 'answers to what nobody asked',
  duplicate_response: 'answers that came twice',
  late_response: 'answers to requests that were given up',
  request_over_cap: 'requests refused because too many of them were waiting',
  dropped_progress: 'reports of progress that were left out',
  dropped_log: 'log messages that were left out',
  dropped_notification: 'notifications that were left out',
  throttled: 'pauses in reading it, because it says too much by itself',
  write_refused: 'messages that it did not read',
  list_cut: 'lists that were cut because they are too long',
  unresponsive: 'times that it gave no sign of life',
};

/** What has been odd in one server, the most frequent first. */
export function oddityReport(oddities: Oddities): ServerOddity[] {
  return Object.entries(oddities.toJSON())
    .map(([kind, count]) => ({ kind, count, words: WORDS[kind as Oddity] }))
    .sort((a, b) => b.count - a.count || (a.kind < b.kind ? -1 : 1));
}
