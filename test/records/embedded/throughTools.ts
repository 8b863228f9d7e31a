import { expect } from 'vitest';
import { countTokens } from '../../../src/catalog/tokenizer/tokens.ts';
import type { RecordProvider } from '../../../src/records/provider/recordProvider.ts';
import { recordServer } from '../../../src/records/server/recordServer.ts';
import type { ToolAnswer } from '../../../src/records/surface/answers.ts';
import type { Ask } from './questions.ts';
import type { Body } from './world.ts';

/** Expense of the calls that answer a question. */
export interface Expense {
  calls: number;
  /** Tokens of the texts. */
  text: number;
  /** Tokens of the structured outputs that had to be read because a text leaves records, groups or hits out. */
  structured: number;
}

interface ToolCall {
  name: string;
  args: Record<string, unknown>;
}

/** Asks the five tools as a model does, over MCP's `tools/call`, and counts what the answers take. */
export class ToolReader {
  readonly #serve: ReturnType<typeof recordServer>;
  expense: Expense = { calls: 0, text: 0, structured: 0 };

  constructor(provider: RecordProvider) {
    this.#serve = recordServer(provider);
  }

  /** Answers a read of the contract by the one tool call that stands for it. */
  readonly ask: Ask = async (target) => {
    const call = toolCall(target);
    const answer = await this.call(call);
    const text = answer.content[0]?.text ?? '';
    const members = Object.fromEntries(
      Object.entries(READERS[call.name]?.(text) ?? {}).map(([key, read]) => [
        key,
        {
          get: () => {
            const shown = read();
            if (shown !== undefined) return shown;
            this.expense.structured += countTokens(JSON.stringify(answer.structuredContent));
            return structured(call.name, answer, key);
          },
        },
      ]),
    );
    return Object.defineProperties({}, members) as Body;
  };

  async call({ name, args }: ToolCall): Promise<ToolAnswer> {
    const params = { name, arguments: args };
    const answer = (await this.#serve('tools/call', params, new AbortController().signal)) as unknown as ToolAnswer;
    expect(answer.isError, JSON.stringify({ params, answer })).toBeUndefined();
    this.expense.calls += 1;
    this.expense.text += countTokens(answer.content.map(({ text }) => text).join('\n'));
    return answer;
  }
}

const LISTS: readonly string[] = ['fields', 'streams'];

/** Returns the tool call with the meaning of a read, such as `/v1/streams/calls/aggregate?metric=count`. */
export function toolCall(target: string): ToolCall {
  const { pathname, searchParams } = new URL(target, 'http://records.invalid');
  const args: Record<string, unknown> = {};
  const filter: Record<string, unknown> = {};
  for (const [key, value] of searchParams) {
    const [, field, operator] = /^filter\[(\w+)\](?:\[(\w+)\])?$/.exec(key) ?? [];
    if (field === undefined) {
      args[key] = LISTS.includes(key) ? [...((args[key] as string[]) ?? []), value] : key === 'limit' ? +value : value;
    } else filter[field] = operator === undefined ? value : { ...(filter[field] as object), [operator]: value };
  }
  if (Object.keys(filter).length > 0) args.filter = filter;
  const [, , first, stream = '', kind, id] = pathname.split('/');
  if (first === 'search') return { name: 'search', args };
  if (id !== undefined) return { name: 'fetch', args: { ...args, id: `${stream}:${decodeURIComponent(id)}` } };
  return { name: kind === 'aggregate' ? 'aggregate' : 'query_records', args: { ...args, stream } };
}

type Member = () => unknown;

/** Reads the members of an answer from its text. A member is undefined where the text leaves a part of it out. */
const READERS: Readonly<Record<string, (text: string) => Readonly<Record<string, Member>>>> = {
  aggregate: (text) => ({
    value: () => JSON.parse(/ = (.+)\.(?: |\n|$)/.exec(text)?.[1] ?? '') as unknown,
    groups: () => {
      if (text.includes(' more_groups=')) return undefined;
      const [, list = ''] = /group\(s\) \[(.*)\]/.exec(text) ?? [];
      return [...list.matchAll(/("(?:[^"\\]|\\.)*"|null)=(-?[\d.]+)/g)].map(([, key = '', value]) => ({
        key: JSON.parse(key) as unknown,
        value: Number(value),
      }));
    },
  }),
  query_records: (text) => ({
    next_cursor: () => {
      const cursor = /next_cursor=("(?:[^"\\]|\\.)*")/.exec(text)?.[1];
      return cursor === undefined ? null : (JSON.parse(cursor) as unknown);
    },
    data: () => {
      const lines = [...text.matchAll(/^record\[\d+\] (.*)$/gm)].map(([, json = '']) => json);
      const isWhole = !/^(more_records|previews_omitted)=/m.test(text) && !lines.some((line) => line.endsWith('…'));
      return isWhole ? lines.map((line) => JSON.parse(line) as unknown) : undefined;
    },
  }),
  search: (text) => ({
    meta: () => ({ count: Number(/ count=exact:(\d+)/.exec(text)?.[1]) }),
    results: () => {
      if (/^(more_results|lines_omitted)=/m.test(text)) return undefined;
      return [...text.matchAll(/^\d\. id=(\S+) .*?title=("(?:[^"\\]|\\.)*")/gm)].map(([, id, title = '']) => ({
        id,
        title: JSON.parse(title) as unknown,
      }));
    },
  }),
  fetch: (text) => ({
    data: () => {
      const document = JSON.parse(text) as { text: string };
      return JSON.parse(document.text) as unknown;
    },
  }),
};

function structured(name: string, { structuredContent }: ToolAnswer, key: string): unknown {
  const { data, results } = structuredContent as { data: Record<string, unknown>; results?: unknown };
  return name === 'search' ? results : data[key];
}
