import type { Readable, Writable } from 'node:stream';
import { type AnswerRequest, answeredBy } from '../incomingRequests.ts';
import { LineTransport } from './mcpTransport.ts';

/** Serves one client on a pair of streams from a function. Resolves when the client has closed its end. */
export async function answerLines(input: Readable, output: Writable, answer: AnswerRequest): Promise<void> {
  const transport = new LineTransport({ input, output });
  const requests = answeredBy(answer, (message) => transport.send(message));
  const closed = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  transport.onmessage = (message) => void requests.take(message);
  await transport.start();
  await closed;
  requests.close();
}
