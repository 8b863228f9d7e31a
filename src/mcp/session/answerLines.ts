import type { Readable, Writable } from 'node:stream';
import { Answering, type AnswerRequest } from '../answering.ts';
import { LineTransport } from './mcpTransport.ts';

/** Serves one client on a pair of streams from a function. Resolves when the client has closed its end. */
export async function answerLines(input: Readable, output: Writable, answer: AnswerRequest): Promise<void> {
  const transport = new LineTransport({ input, output });
  const answering = new Answering(answer, (message) => void transport.send(message).catch(() => undefined));
  const closed = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  transport.onmessage = (message) => answering.receive(message);
  await transport.start();
  await closed;
  answering.close();
}
