import type { MadeCall, MadeHistory, MadeSession, MadeToolCall } from '../../support/recordHistory.ts';
import type { Body } from './world.ts';

export type Ask = (target: string) => Promise<Body>;

/** Question about a history, with the reads that answer it and the answer by the generator's own facts. */
export interface Question {
  readonly question: string;
  answer(ask: Ask): Promise<unknown>;
  expected(made: MadeHistory): unknown;
}

const DAY_MS = 86_400_000;
const iso = (at: number): string => new Date(at).toISOString();
const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const rows = (body: Body): Record<string, unknown>[] => (body.data ?? []).map(({ data }) => data);
const groups = (body: Body): Record<string, unknown> =>
  Object.fromEntries((body.groups ?? []).map(({ key, value, count }) => [String(key), value ?? count]));

interface Hit {
  id: string;
  title: string;
}
const hitsIn = (body: Body): Hit[] => body.results as Hit[];
/** Key of the record in an id such as `agents/errors:e1`. */
const keyOf = ({ id }: Hit): string => id.slice(id.indexOf(':') + 1);
const timeIn = ({ title }: Hit): string => title.split(' / ').at(-1) as string;

function countBy<T>(
  items: readonly T[],
  key: (item: T) => string,
  weight: (item: T) => number = () => 1,
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[key(item)] = (counts[key(item)] ?? 0) + weight(item);
  return counts;
}

/** Largest entry; the name breaks a tie, as the provider does. */
function top(counts: Record<string, number>): string | undefined {
  return Object.entries(counts).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))[0]?.[0];
}

const toolCalls = ({ sessions }: MadeHistory): MadeToolCall[] => sessions.flatMap((session) => session.toolCalls);
const failed = ({ ok }: { ok: boolean }): boolean => !ok;
const weekAgo = (now: number): number => now - 7 * DAY_MS;
const monthOf = (at: number): string => `${iso(at).slice(0, 7)}-01`;
const calls = 'v1/streams/calls';
const latest = <T extends { at: number }>(items: readonly T[]): T => items.reduce((a, b) => (b.at > a.at ? b : a));

/** Thirty questions of people about what happened. `now` is the end of the history. */
export function thirtyQuestions(now: number): Question[] {
  const since = `filter[at][gte]=${iso(weekAgo(now))}`;
  const recent = (made: MadeHistory): MadeCall[] => made.calls.filter(({ at }) => at >= weekAgo(now));
  const count = async (ask: Ask, query: string): Promise<unknown> =>
    (await ask(`/${calls}/aggregate?metric=count${query}`)).value;
  const by = async (ask: Ask, stream: string, query: string): Promise<unknown> =>
    groups(await ask(`/v1/streams/${stream}/aggregate?limit=100&${query}`));
  return [
    {
      question: 'How many calls were there?',
      answer: (ask) => count(ask, ''),
      expected: (made) => made.calls.length,
    },
    {
      question: 'How many calls failed this week?',
      answer: (ask) => count(ask, `&filter[outcome]=error&${since}`),
      expected: (made) => recent(made).filter(failed).length,
    },
    {
      question: 'Which tools failed this week, and how often?',
      answer: (ask) => by(ask, 'calls', `metric=count&group_by=tool&filter[outcome]=error&${since}`),
      expected: (made) => countBy(recent(made).filter(failed), ({ tool }) => tool),
    },
    {
      question: 'Which server failed most this week?',
      answer: async (ask) =>
        (await ask(`/${calls}/aggregate?metric=count&group_by=server&limit=1&filter[outcome]=error&${since}`))
          .groups?.[0]?.key,
      expected: (made) => top(countBy(recent(made).filter(failed), ({ server }) => server)),
    },
    {
      question: 'How many tokens came from each server?',
      answer: (ask) => by(ask, 'calls', 'metric=sum&field=tokens_in&group_by=server'),
      expected: (made) =>
        countBy(
          made.calls,
          ({ server }) => server,
          ({ tokensIn }) => tokensIn,
        ),
    },
    {
      question: 'How many tokens per month came from the server github?',
      answer: (ask) =>
        by(ask, 'calls', 'metric=sum&field=tokens_in&group_by_time=at&granularity=month&filter[server]=github'),
      expected: (made) =>
        countBy(
          made.calls.filter(({ server }) => server === 'github'),
          ({ at }) => monthOf(at),
          ({ tokensIn }) => tokensIn,
        ),
    },
    {
      question: 'What ran after the last timeout of refund_order?',
      answer: async (ask) => {
        const last = await ask(
          `/${calls}/records?limit=1&filter[tool]=refund_order&filter[error_code]=UPSTREAM_TIMEOUT`,
        );
        const { at, session_id: session } = rows(last)[0] ?? {};
        const next = await ask(
          `/${calls}/records?limit=1&order=asc&filter[session_id]=${session}&filter[at][gt]=${at}`,
        );
        return rows(next).map(({ tool }) => tool);
      },
      expected: (made) => {
        const of = latest(
          made.calls.filter(({ tool, errorCode }) => tool === 'refund_order' && errorCode === 'UPSTREAM_TIMEOUT'),
        );
        const after = made.calls.filter(({ at, session }) => session === of.session && at > of.at);
        return after.slice(0, 1).map(({ tool }) => tool);
      },
    },
    {
      question: 'Which error is the most frequent?',
      answer: async (ask) =>
        (await ask(`/${calls}/aggregate?metric=count&group_by=error_code&filter[outcome]=error&limit=1`)).groups?.[0]
          ?.key,
      expected: (made) => top(countBy(made.calls.filter(failed), ({ errorCode }) => errorCode as string)),
    },
    {
      question: 'How long did the slowest call take?',
      answer: async (ask) => (await ask(`/${calls}/aggregate?metric=max&field=duration_ms`)).value,
      expected: (made) => made.calls.reduce((most, { durationMs }) => Math.max(most, durationMs), 0),
    },
    {
      question: 'How many calls took longer than 800 ms?',
      answer: (ask) => count(ask, '&filter[duration_ms][gt]=800'),
      expected: (made) => made.calls.filter(({ durationMs }) => durationMs > 800).length,
    },
    {
      question: 'How many sessions called a tool?',
      answer: async (ask) => (await ask(`/${calls}/aggregate?metric=count_distinct&field=session_id`)).value,
      expected: (made) => new Set(made.calls.map(({ session }) => session)).size,
    },
    {
      question: 'Which client made how many calls?',
      answer: (ask) => by(ask, 'calls', 'metric=count&group_by=client'),
      expected: (made) => countBy(made.calls, ({ client }) => client),
    },
    {
      question: 'What was the last call of all?',
      answer: async (ask) => rows(await ask(`/${calls}/records?limit=1`)).map(({ at, tool }) => [at, tool]),
      expected: (made) => [made.calls.at(-1)].map((call) => [iso(call?.at ?? 0), call?.tool]),
    },
    {
      question: 'Which servers crashed, and how often?',
      answer: (ask) => by(ask, 'faults', 'metric=count&group_by=server&filter[kind]=crashed'),
      expected: (made) => countBy(made.crashes, ({ server }) => server),
    },
    {
      question: 'When did a server crash last?',
      answer: async (ask) =>
        rows(await ask('/v1/streams/faults/records?limit=1&filter[kind]=crashed')).map(({ at }) => at),
      expected: (made) => [iso(latest(made.crashes).at)],
    },
    {
      question: 'How many faults of timeouts were there per week?',
      answer: (ask) =>
        by(ask, 'faults', 'metric=count&group_by_time=at&granularity=week&filter[fault]=timeout/request_timeout'),
      expected: (made) =>
        countBy(
          made.calls.filter(({ fault }) => fault === 'timeout/request_timeout'),
          ({ at }) => {
            const day = new Date(iso(at).slice(0, 10));
            return iso(day.getTime() - ((day.getUTCDay() + 6) % 7) * DAY_MS).slice(0, 10);
          },
        ),
    },
    {
      question: 'How many browses were there, and how many cards did they show?',
      answer: async (ask) => [
        (await ask('/v1/streams/browses/aggregate?metric=count')).value,
        (await ask('/v1/streams/browses/aggregate?metric=sum&field=card_count')).value,
      ],
      expected: ({ browses }) => [browses.length, sum(browses.map(({ cards }) => cards))],
    },
    {
      question: 'Which calls kept a result on the last day?',
      answer: async (ask) => {
        const from = `filter[at][gte]=${iso(now - DAY_MS)}`;
        const found: unknown[] = [];
        for (let cursor = ''; ; ) {
          const body = await ask(`/${calls}/records?limit=100&fields=results&${from}${cursor}`);
          found.push(...rows(body).flatMap(({ results }) => (results as unknown[] | null) ?? []));
          if (body.next_cursor === null) return found.sort();
          cursor = `&cursor=${encodeURIComponent(String(body.next_cursor))}`;
        }
      },
      expected: (made) =>
        made.calls
          .filter(({ at }) => at >= now - DAY_MS)
          .flatMap(({ results }) => results)
          .sort(),
    },
    {
      question: 'How many sessions did each agent have?',
      answer: (ask) => by(ask, 'sessions', 'metric=count&group_by=agent'),
      expected: ({ sessions }) => countBy(sessions, ({ agent }) => agent),
    },
    {
      question: 'How many tokens did each agent read?',
      answer: (ask) => by(ask, 'sessions', 'metric=sum&field=tokens_in&group_by=agent'),
      expected: ({ sessions }) =>
        countBy(
          sessions,
          ({ agent }) => agent,
          ({ tokensIn }) => tokensIn,
        ),
    },
    {
      question: 'In which sessions was the invoice export fixed?',
      answer: async (ask) => {
        const hits = await ask('/v1/search?q="invoice export"&streams=sessions&limit=100');
        return hitsIn(hits).map(keyOf).sort();
      },
      expected: ({ sessions }) =>
        sessions
          .filter(({ title }) => title.includes('invoice export'))
          .map(({ id }) => id)
          .sort(),
    },
    {
      question: 'Which calls touched src/login.ts?',
      answer: (ask) => by(ask, 'tool_calls', 'metric=count&group_by=agent&filter[file]=src/login.ts'),
      expected: (made) =>
        countBy(
          toolCalls(made).filter(({ file }) => file === 'src/login.ts'),
          ({ agent }) => agent,
        ),
    },
    {
      question: 'Which tools of agents failed, and how often?',
      answer: (ask) => by(ask, 'tool_calls', 'metric=count&group_by=tool&filter[outcome]=error'),
      expected: (made) => countBy(toolCalls(made).filter(failed), ({ tool }) => tool),
    },
    {
      question: 'How often was a connection refused?',
      answer: async (ask) => (await ask('/v1/search?q="connection refused"&streams=errors')).meta?.count,
      expected: (made) => toolCalls(made).filter(({ result }) => result.startsWith('Connection refused')).length,
    },
    {
      question: 'What did the agent do right after permission was first denied?',
      answer: async (ask) => {
        const hits = await ask('/v1/search?q="permission denied"&streams=errors&limit=100');
        // The title of a hit without one of its own ends with its time.
        const first = hitsIn(hits).reduce((a, b) => (timeIn(b) < timeIn(a) ? b : a));
        const of = `/v1/streams/errors/records/${encodeURIComponent(keyOf(first))}`;
        const error = await ask(`${of}?fields=session_id&fields=at`);
        const { session_id: session, at } = (error as unknown as { data: Record<string, unknown> }).data;
        const next = await ask(
          `/v1/streams/tool_calls/records?order=asc&limit=1&filter[session_id]=${session}&filter[at][gt]=${at}`,
        );
        return rows(next).map(({ tool, arguments: given }) => [tool, given]);
      },
      expected: (made) => {
        const denied = toolCalls(made).filter(({ result }) => result === 'Permission denied');
        const of = denied.reduce((a, b) => (b.at < a.at ? b : a));
        const after = toolCalls(made).filter(({ session, at }) => session === of.session && at > of.at);
        return after.slice(0, 1).map(({ tool, text }) => [tool, text]);
      },
    },
    {
      question: 'What did agents do while I was away, from the tenth to the third day before now?',
      answer: async (ask) => {
        const away = `filter[at][gte]=${iso(now - 10 * DAY_MS)}&filter[at][lt]=${iso(now - 3 * DAY_MS)}`;
        return groups(await ask(`/v1/streams/tool_calls/aggregate?metric=count&group_by=session_id&limit=100&${away}`));
      },
      expected: (made) =>
        countBy(
          toolCalls(made).filter(({ at }) => at >= now - 10 * DAY_MS && at < now - 3 * DAY_MS),
          ({ session }) => session,
        ),
    },
    {
      question: 'Which session is the longest, by its turns?',
      answer: async (ask) => (await ask('/v1/streams/sessions/aggregate?metric=max&field=turns')).value,
      expected: ({ sessions }) =>
        Math.max(
          ...sessions.map(
            ({ agent, turns, toolCalls: own }) => turns.length + (agent === 'claude-code' ? own.length : 0),
          ),
        ),
    },
    {
      question: 'Which folders did Codex work in?',
      answer: (ask) => by(ask, 'sessions', 'metric=count&group_by=folder&filter[agent]=codex'),
      expected: ({ sessions }) =>
        countBy(
          sessions.filter(({ agent }) => agent === 'codex'),
          ({ folder }) => folder,
        ),
    },
    {
      question: 'What was asked first in the newest session of Copilot CLI, and how many of its tools failed?',
      answer: async (ask) => {
        const [session] = rows(await ask('/v1/streams/sessions/records?limit=1&filter[agent]=copilot-cli'));
        return [session?.title, session?.errors, session?.tool_calls];
      },
      expected: ({ sessions }) => {
        const own = sessions.filter(({ agent }) => agent === 'copilot-cli');
        const newest: MadeSession = own.reduce((a, b) => (b.startedAt > a.startedAt ? b : a));
        return [newest.title, newest.toolCalls.filter(failed).length, newest.toolCalls.length];
      },
    },
    {
      question: 'Which MCP servers do agents call directly, and how often?',
      answer: (ask) => by(ask, 'tool_calls', 'metric=count&group_by=server'),
      expected: (made) => countBy(toolCalls(made), ({ server }) => server ?? 'null'),
    },
  ];
}
