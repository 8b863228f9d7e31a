import { UpstreamRequestError } from './upstreamClient.ts';

const ID_FIELD = /(?:^|[\r\n])id:[ ]?\S/;

/**
 * A body with a limit: for the whole of it, or for each event where it is a stream of events, which may well be endless.
 * `resumable`: an event had an id, so the rest can be asked for.
 */
export function boundedBody(
  source: ReadableStream<Uint8Array>,
  contentType: string,
  limit: number,
): { body: ReadableStream<Uint8Array>; resumable: () => boolean } {
  const isStream = contentType.toLowerCase().startsWith('text/event-stream');
  let bytes = 0;
  let tail = '';
  let hasId = false;
  const measure = (chunk: Uint8Array): void => {
    bytes += chunk.length;
    if (!isStream) return;
    const text = tail + Buffer.from(chunk).toString('latin1');
    hasId ||= ID_FIELD.test(text);
    const boundary = Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\r\n\r\n'), text.lastIndexOf('\r\r'));
    if (boundary !== -1) bytes = text.length - boundary;
    tail = text.slice(-6);
  };
  const body = source.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        measure(chunk);
        if (bytes > limit) throw tooLarge(limit);
        controller.enqueue(chunk);
      },
    }),
  );
  return { body, resumable: () => hasId };
}

/** `onEnd` is called once, when no more of the body will be read, with the failure where it was too large. */
export function watchedBody(
  source: ReadableStream<Uint8Array>,
  onEnd: (tooLarge?: UpstreamRequestError) => void,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  let over = false;
  const end = (error?: unknown): void => {
    if (!over) onEnd(error instanceof UpstreamRequestError ? error : undefined);
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
          end();
          controller.close();
        } catch (error) {
          end(error);
          controller.error(error);
        }
      },
      cancel(reason) {
        end();
        return reader.cancel(reason);
      },
    },
    // Nothing waits in it: what has come out of it is being read.
    { highWaterMark: 0 },
  );
}

/** As over stdio: it was carried out, and only its answer cannot be had. */
function tooLarge(limit: number): UpstreamRequestError {
  const error = new UpstreamRequestError('protocol', `an answer is beyond the limit of ${limit} bytes`);
  return Object.assign(error, { frame: 'frame_too_large' as const });
}
