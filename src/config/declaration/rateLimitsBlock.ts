import { block } from './block.ts';
import { object, record } from './collections.ts';
import { type Infer, number } from './field.ts';

const LIMIT_KEYS = {
  maxCallsPerMinute: number({
    whole: true,
    min: 1,
    nullable: true,
    lenient: true,
    default: null,
    doc: 'In any 60 seconds, in all sessions of the workspace together.',
  }),
  maxCallsPerSession: number({
    whole: true,
    min: 1,
    nullable: true,
    lenient: true,
    default: null,
    doc: 'In one session. A client may begin another one.',
  }),
};
const limit = (doc: string) => object(LIMIT_KEYS, { doc });

const rateLimits = object(
  {
    tool_browse: limit('Limit of searches.'),
    tool_execute: limit('Limit of calls.'),
    tool_view: limit('Limit of further looks at results.'),
    perTool: record(limit('Limit of one tool.'), {
      refersTo: 'namespace',
      doc: 'Limits of single tools, by their ids.',
    }),
  },
  {
    doc: "Limits of calls. A session is that of a client, inside VS Code a chat. If a workspace's and your own waygate.json differ, the lower limit counts.",
  },
);

export type RateLimit = Infer<ReturnType<typeof limit>>;
export interface RateLimits extends Infer<typeof rateLimits> {
  /** Why the limits cannot be read. No call is allowed then, but `tool_browse` answers. */
  readonly unreadable?: string;
}

export const RATE_LIMITS = block<RateLimits>(rateLimits, {
  defaultValue: {},
  safety: {
    strictest: (unreadable) => ({ unreadable }),
    untilThen: 'no tool can be called and no result viewed',
  },
  combine: (own, { value }) => (own ? lowerLimits(own.value, value) : value),
});

function lowerLimits(a: RateLimits, b: RateLimits): RateLimits {
  const names = ['tool_browse', 'tool_execute', 'tool_view'] as const;
  const unreadable = a.unreadable ?? b.unreadable;
  return {
    ...Object.fromEntries(names.filter((name) => a[name] ?? b[name]).map((name) => [name, lower(a[name], b[name])])),
    ...((a.perTool ?? b.perTool) && { perTool: lowerOfEach(a.perTool ?? {}, b.perTool ?? {}) }),
    ...(unreadable !== undefined && { unreadable }),
  };
}

function lowerOfEach(
  a: Readonly<Record<string, RateLimit>>,
  b: Readonly<Record<string, RateLimit>>,
): Record<string, RateLimit> {
  const of = (limits: typeof a, name: string) => (Object.hasOwn(limits, name) ? limits[name] : undefined);
  return Object.fromEntries(
    [...Object.keys(a), ...Object.keys(b)].map((name) => [name, lower(of(a, name), of(b, name))]),
  );
}

const UNLIMITED: RateLimit = { maxCallsPerMinute: null, maxCallsPerSession: null };

function lower(a: RateLimit = UNLIMITED, b: RateLimit = UNLIMITED): RateLimit {
  const least = (x: number | null, y: number | null) => (x === null || y === null ? (x ?? y) : Math.min(x, y));
  return {
    maxCallsPerMinute: least(a.maxCallsPerMinute, b.maxCallsPerMinute),
    maxCallsPerSession: least(a.maxCallsPerSession, b.maxCallsPerSession),
  };
}
