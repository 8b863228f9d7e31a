import { peekIsAnswer } from '../../../link/frames.ts';
import { UpstreamRequestError } from '../upstreamClient.ts';

const DATA = /(?:^|[\r\n])data: ?(.*)/;
/** Length of an event's beginning that shows its kind. */
const HEAD_CHARS = 1_024;

/** Returns a body with a limit: for the whole, or for each event of a stream, which may be endless. */
export function boundedBody(
  source: ReadableStream<Uint8Array>,
  contentType: string,
  limit: number,
): ReadableStream<Uint8Array> {
  const isStream = contentType.toLowerCase().startsWith('text/event-stream');
  let bytes = 0;
  let head = '';
  let tail = '';
  const measure = (chunk: Uint8Array): void => {
    bytes += chunk.length;
    if (!isStream) return;
    const text = tail + Buffer.from(chunk).toString('latin1');
    const boundary = Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\r\n\r\n'), text.lastIndexOf('\r\r'));
    if (boundary !== -1) bytes = text.length - boundary;
    if (boundary !== -1 || head.length < HEAD_CHARS) {
      head = `${boundary === -1 ? head : ''}${text.slice(boundary === -1 ? tail.length : boundary)}`.slice(
        0,
        HEAD_CHARS,
      );
    }
    tail = text.slice(-6);
  };
  return source.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        measure(chunk);
        if (bytes > limit) throw tooLarge(limit, !isStream || peekIsAnswer(Buffer.from(DATA.exec(head)?.[1] ?? '')));
        controller.enqueue(chunk);
      },
    }),
  );
}

/** End of a body: complete, cut off, or too large. */
export type BodyEnd = 'whole' | 'cut' | UpstreamRequestError;

/** Watches a body. Calls `onEnd` once, when nothing reads the body any more. */
export function watchedBody(
  source: ReadableStream<Uint8Array>,
  onEnd: (end: BodyEnd) => void,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  let over = false;
  const end = (how: BodyEnd): void => {
    if (!over) onEnd(how);
    over = true;
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) {
            controller.enqueue(value);
            return;
          }
          end('whole');
          controller.close();
        } catch (error) {
          end(error instanceof UpstreamRequestError ? error : 'cut');
          controller.error(error);
        }
      },
      cancel(reason) {
        end('cut');
        return reader.cancel(reason);
      },
    },
    // Nothing waits in the stream while its output has a reader.
    { highWaterMark: 0 },
  );
}

/**
 * Makes the failure of an oversized body. A server has executed a request that it answers, as over stdio; the outcome
 * of any other is unknown.
 */
function tooLarge(limit: number, isAnswer: boolean): UpstreamRequestError {
  const words = `an ${isAnswer ? 'answer' : 'event'} is beyond the limit of ${limit} bytes`;
  return Object.assign(new UpstreamRequestError('protocol', words), isAnswer ? TOO_LARGE : {});
}

const TOO_LARGE = { frame: 'frame_too_large' } as const;
