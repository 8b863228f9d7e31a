import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RpcMessage } from '../hostProcess.ts';
import { atEnd } from '../lifetime.ts';
import type { Recorded } from './recorded.ts';

export interface RecordingProxy {
  url: string;
  /** Messages of clients and the answers to `initialize`, in order. */
  frames: Recorded[];
}

/** Listens in front of an MCP server over HTTP, passes everything on and records messages. */
export async function recordingProxy(target: string): Promise<RecordingProxy> {
  const frames: Recorded[] = [];
  const server = createServer((incoming, outgoing) => {
    let body = '';
    incoming.setEncoding('utf8').on('data', (chunk) => {
      body += chunk;
    });
    incoming.on('end', () => {
      const headers = { ...incoming.headers, host: new URL(target).host };
      const frame = body === '' ? undefined : (JSON.parse(body) as RpcMessage);
      if (frame) frames.push({ from: 'client', headers, frame });
      const onwards = request(target, { method: incoming.method, headers }, (answer) => {
        if (frame?.method === 'initialize') recordAnswer(answer, frames);
        outgoing.writeHead(answer.statusCode as number, answer.headers);
        outgoing.flushHeaders();
        answer.pipe(outgoing);
        answer.on('error', () => outgoing.destroy());
      });
      onwards.on('error', () => outgoing.destroy());
      outgoing.on('close', () => onwards.destroy());
      onwards.end(body);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}${new URL(target).pathname}`, frames };
}

/** Records messages of an answer, which is JSON or a stream of events. */
function recordAnswer(answer: IncomingMessage, frames: Recorded[]): void {
  let text = '';
  answer.on('data', (chunk) => {
    text += chunk;
  });
  answer.on('end', () => {
    const documents = text.startsWith('{') ? [text] : [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => data);
    for (const document of documents) frames.push({ from: 'server', frame: JSON.parse(document as string) });
  });
}
