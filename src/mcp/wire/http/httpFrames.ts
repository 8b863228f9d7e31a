/** Judges a frame. Returns its replacements, or `undefined` to keep it unchanged. */
export type JudgeFrame = (frame: Buffer) => readonly object[] | undefined;

/** Resolves when the next event may follow; `undefined` for at once. */
export type ReadingHold = () => Promise<void> | undefined;

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const DATA = /^data: ?/;
const EVENT_ID = /^id: ?(.+)$/;
const MAX_EVENT_ID_BYTES = 4_096;

/** Applies the judgement of stdio frames to the frames of an HTTP answer, before the SDK reads them. */
export function judgedBody(
  body: ReadableStream<Uint8Array>,
  contentType: string,
  judge: JudgeFrame,
  hold: ReadingHold = () => undefined,
  onEventId: (id: string) => void = () => undefined,
): ReadableStream<Uint8Array> {
  const type = contentType.toLowerCase();
  if (type.startsWith('text/event-stream')) return body.pipeThrough(judgedEvents(judge, hold, onEventId));
  return type.startsWith('application/json') ? body.pipeThrough(judgedJson(judge)) : body;
}

/** Judges a body with a single frame. */
function judgedJson(judge: JudgeFrame): TransformStream<Uint8Array, Uint8Array> {
  const parts: Uint8Array[] = [];
  return new TransformStream({
    transform: (chunk) => void parts.push(chunk),
    flush(controller) {
      const whole = Buffer.concat(parts);
      const instead = judge(whole);
      if (!instead) controller.enqueue(whole);
      else controller.enqueue(Buffer.from(JSON.stringify(instead.length === 1 ? instead[0] : instead)));
    },
  });
}

/** Judges a stream of events (WHATWG HTML, Server-sent events). Each `message` holds a frame. */
function judgedEvents(
  judge: JudgeFrame,
  hold: ReadingHold,
  onEventId: (id: string) => void,
): TransformStream<Uint8Array, Uint8Array> {
  let event: Buffer[] = [];
  let line: Buffer[] = [];
  let afterReturn = false;
  const endLine = (controller: TransformStreamDefaultController<Uint8Array>): Promise<void> | undefined => {
    const whole = Buffer.concat(line);
    line = [];
    if (whole.length > 0) event.push(whole);
    if (whole.length > 0 || event.length === 0) return undefined;
    const lines = judgedEvent(event, judge);
    const id = lines.some(isData) ? eventId(lines) : undefined;
    if (id !== undefined) onEventId(id);
    controller.enqueue(asEvent(lines));
    event = [];
    return hold();
  };
  return new TransformStream({
    async transform(chunk, controller) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      // A line ends with either character, or with both.
      let start = afterReturn && bytes[0] === NEWLINE ? 1 : 0;
      for (let end = lineEnd(bytes, start); end !== -1; end = lineEnd(bytes, start)) {
        line.push(bytes.subarray(start, end));
        const held = endLine(controller);
        if (held) await held;
        start = bytes[end] === CARRIAGE_RETURN && bytes[end + 1] === NEWLINE ? end + 2 : end + 1;
      }
      if (start < bytes.length) line.push(bytes.subarray(start));
      if (bytes.length > 0) afterReturn = bytes.at(-1) === CARRIAGE_RETURN;
    },
  });
}

function lineEnd(bytes: Buffer, start: number): number {
  const newline = bytes.indexOf(NEWLINE, start);
  const before = newline === -1 ? bytes : bytes.subarray(0, newline);
  const carriage = before.indexOf(CARRIAGE_RETURN, start);
  return carriage === -1 ? newline : carriage;
}

function isData(line: Buffer): boolean {
  return line.toString('latin1', 0, 5) === 'data:';
}

/** Returns the id of an event with data; the SDK knows no other ids. */
function eventId(lines: readonly Buffer[]): string | undefined {
  const line = lines.findLast((each) => each.toString('latin1', 0, 3) === 'id:');
  return line && line.length <= MAX_EVENT_ID_BYTES ? EVENT_ID.exec(line.toString('utf8'))?.[1] : undefined;
}

function judgedEvent(lines: readonly Buffer[], judge: JudgeFrame): readonly Buffer[] {
  const heads = lines.map((line) => line.toString('latin1', 0, 32));
  const isMessage = heads.every((head) => !head.startsWith('event:') || /^event: ?message$/.test(head));
  const data = lines.flatMap((line, i) => {
    const prefix = DATA.exec(heads[i] as string)?.[0];
    return prefix === undefined ? [] : [line.subarray(prefix.length)];
  });
  const frame = Buffer.concat(data.flatMap((part, i) => (i === 0 ? [part] : [LINE_END, part])));
  const instead = isMessage && frame.length > 0 ? judge(frame) : undefined;
  if (!instead) return lines;
  const rest = lines.filter((_, i) => !DATA.test(heads[i] as string));
  const [first, ...others] = instead.map((message) => Buffer.from(`data: ${JSON.stringify(message)}`));
  // An empty line ends an event.
  return [...rest, ...(first ? [first] : []), ...others.flatMap((other) => [NOTHING, other])];
}

const LINE_END = Buffer.from('\n');
const NOTHING = Buffer.alloc(0);

function asEvent(lines: readonly Buffer[]): Buffer {
  return Buffer.concat([...lines.flatMap((line) => [line, LINE_END]), LINE_END]);
}
