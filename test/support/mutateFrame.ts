import { RELATED_TASK } from '../../src/mcp/mcpTask.ts';
import type { PseudoRandom } from './pseudoRandom.ts';

/** Mutations of a frame. All change it, and some keep it valid. */
type Mutation = (frame: Buffer, random: PseudoRandom, others: readonly Buffer[]) => Buffer;

const flip: Mutation = (frame, random) => {
  const spoilt = Buffer.from(frame);
  const at = random.below(spoilt.length);
  spoilt[at] = (spoilt[at] as number) ^ (1 << random.below(8));
  return spoilt;
};

const truncate: Mutation = (frame, random) => frame.subarray(0, random.below(frame.length));

const splice: Mutation = (frame, random, others) => {
  const other = random.pick(others);
  return Buffer.concat([frame.subarray(0, random.below(frame.length)), other.subarray(random.below(other.length))]);
};

const insert: Mutation = (frame, random) => {
  const at = random.below(frame.length);
  const noise = random.pick(NOISE);
  return Buffer.concat([frame.subarray(0, at), noise, frame.subarray(at)]);
};

const duplicateMember: Mutation = (frame, random) => {
  const members = Object.entries(parse(frame));
  const [name, value] = random.pick(members.length > 0 ? members : [['id', 1] as [string, unknown]]);
  const extra = `${JSON.stringify(name)}:${JSON.stringify(random.next() < 0.5 ? value : null)},`;
  return Buffer.concat([Buffer.from(`{${extra}`), frame.subarray(1)]);
};

const reorder: Mutation = (frame, random) => {
  const members = Object.entries(parse(frame));
  for (let i = members.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [members[i], members[j]] = [members[j] as [string, unknown], members[i] as [string, unknown]];
  }
  return Buffer.from(JSON.stringify(Object.fromEntries(members)));
};

const retype: Mutation = (frame, random) => {
  const message = parse(frame);
  const name = random.pick(['jsonrpc', 'id', 'method', 'params', 'result', 'error']);
  const value = random.pick([null, 7, '7', true, [], {}, [[]], -0, 1e308, '', 'x'.repeat(300), { code: 'x' }]);
  return Buffer.from(JSON.stringify({ ...message, [name]: value }));
};

/** The SDK requires a form of `_meta`, whatever else the message contains. */
const meta: Mutation = (frame, random) => {
  const message = parse(frame);
  const place = 'result' in message ? 'result' : 'params';
  const shapes = [null, 7, 'x', [], {}, { progressToken: null }, { progressToken: 'x' }, { [RELATED_TASK]: 7 }];
  const value = { ...(message[place] as object | undefined), _meta: random.pick<unknown>(shapes) };
  return Buffer.from(JSON.stringify({ ...message, [place]: value }));
};

const deepen: Mutation = (frame, random) => {
  const depth = random.pick([10, 255, 256, 257, 2_000]);
  const text = `${'['.repeat(depth)}${']'.repeat(random.next() < 0.8 ? depth : depth - 1)}`;
  return Buffer.from(frame.toString('utf8').replace(/\}$/, `,"x":${text}}`));
};

const wrap: Mutation = (frame, random, others) =>
  Buffer.concat([Buffer.from('['), frame, Buffer.from(','), random.pick(others), Buffer.from(']')]);

const NOISE = ['\ufeff', '\0', '\r', '\n', '\u2028', '"', '\\', '{', '[', '}', ']', '\\ud800', '\u001b[31m']
  .map((text) => Buffer.from(text))
  .concat(Buffer.from([0xff]), Buffer.from([0xc3]), Buffer.from([0xed, 0xa0, 0x80]));
const MUTATIONS = [flip, truncate, splice, insert, duplicateMember, reorder, retype, meta, deepen, wrap];

function parse(frame: Buffer): Record<string, unknown> {
  return JSON.parse(frame.toString('utf8')) as Record<string, unknown>;
}

/** Damages a frame in one to three ways. The first way always needs a whole frame. */
export function mutated(frame: Buffer, random: PseudoRandom, others: readonly Buffer[]): Buffer {
  let spoilt = random.pick(MUTATIONS)(frame, random, others);
  for (let more = random.below(3); more > 0 && spoilt.length > 1; more--) {
    spoilt = random.pick([flip, truncate, splice, insert])(spoilt, random, others);
  }
  return spoilt;
}

/** Cuts bytes at random places, sometimes at every one. */
export function chunked(bytes: Buffer, random: PseudoRandom): Buffer[] {
  const everywhere = random.below(20) === 0 && bytes.length < 2_000;
  const chunks: Buffer[] = [];
  for (let from = 0; from < bytes.length; ) {
    const size = everywhere ? 1 : 1 + random.below(Math.max(1, Math.min(bytes.length, 4_000)));
    chunks.push(bytes.subarray(from, from + size));
    from += size;
  }
  return chunks;
}
