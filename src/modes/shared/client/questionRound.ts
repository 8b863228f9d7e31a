import { RpcError } from '../../../errors/rpcError.ts';
import { isRecord } from '../../../lib/isRecord.ts';
import type { RoundQuestions } from '../../../mcp/wire/upstreamClient.ts';
import { traceOf } from './safeAnswer.ts';

type Params = Record<string, unknown>;

export interface QuestionRoundPorts {
  /** Answer to `roots/list` that needs no client. */
  roots(): Params | undefined;
  /** Makes the question that the client receives. Throws the error for the server where it must not be asked. */
  questionOf(method: string, params: Params): Params;
  /** Counts a question and returns the function that ends it. Throws the error beyond a limit. */
  begin(method: string): () => void;
  /** Sends the questions to the client. */
  forward(requests: Params): Promise<Params>;
  /** Throws the error for an answer that must not reach the server. */
  guard(method: string, answer: unknown): void;
}

/**
 * Asks a client the questions of a server's round in one request, under the keys of the server. The first question that
 * must not be asked or has no answer refuses the round: rejects with a `RoundRefusal`.
 */
export async function askTogether(
  questions: RoundQuestions,
  ports: QuestionRoundPorts,
): Promise<Record<string, Params>> {
  const answers: [string, Params][] = [];
  const requests: [string, object][] = [];
  const ends: (() => void)[] = [];
  let about: string | undefined;
  try {
    for (const [key, { method, params }] of Object.entries(questions)) {
      about = method;
      const roots = method === 'roots/list' ? ports.roots() : undefined;
      if (roots) answers.push([key, roots]);
      else if (method === 'roots/list') requests.push([key, { method, params: {} }]);
      else {
        const { _meta, ...question } = ports.questionOf(method, params);
        const trace = traceOf(_meta);
        ends.push(ports.begin(method));
        requests.push([
          key,
          { method, params: Object.keys(trace).length === 0 ? question : { ...question, _meta: trace } },
        ]);
      }
    }
    about = undefined;
    const { responses } = requests.length === 0 ? {} : await ports.forward(Object.fromEntries(requests));
    for (const [key, response] of Object.entries(isRecord(responses) ? responses : {})) {
      about = questions[key]?.method ?? '';
      ports.guard(about, response);
      answers.push([key, response as Params]);
    }
    return Object.fromEntries(answers);
  } catch (error) {
    // The host names the question that the client cannot be asked.
    const { code, message, data } = error as RpcError;
    const method = about ?? (isRecord(data) ? data.method : undefined);
    throw Object.assign(new RpcError(code, message, about === undefined ? undefined : data), { method });
  } finally {
    for (const end of ends) end();
  }
}
