// Server of the benchmark, without a package: `echo` returns its text, `large` as many bytes as asked for.
// `node echoServer.mjs [number of tools]`.
import { createInterface } from 'node:readline';

const count = Number(process.argv[2] ?? 2);
const inputSchema = { type: 'object', properties: { text: { type: 'string', description: 'Text to return.' } } };
const tools = Array.from({ length: count }, (_, i) => {
  if (i === 0) return { name: 'echo', description: 'Returns its text.', inputSchema };
  if (i === 1) return { name: 'large', description: 'Returns bytes.', inputSchema: { type: 'object' } };
  const description = `Reads entry ${i} of the inventory in region ${i % 17}, with its price, stock and supplier.`;
  return { name: `read_inventory_entry_${i}`, description, inputSchema };
});

const capabilities = { tools: {} };
/** @type {Record<string, (params: Record<string, any>) => object>} */
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities, serverInfo: { name: 'echo', version: '1' } }),
  ping: () => ({}),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name, arguments: args = {} }) => ({
    content: [
      { type: 'text', text: name === 'large' ? `${'log line '.repeat(14)}\n`.repeat(args.bytes / 127) : args.text },
    ],
  }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const end = answer ? { result: answer(params ?? {}) } : { error: { code: -32601, message: 'Unknown method' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...end })}\n`);
});
