import { outputForm } from './answer.ts';
import type { OutputForm } from './negotiation.ts';
import { CBOR_TYPE, PROTOBUF_TYPE, negotiateStream } from './negotiation.ts';
import type { ResponseStream } from '../serving/exchange.ts';
import { type WatchRequestOptions, parseWatchOptions } from './options.ts';
import type { ServerRequest } from './request.ts';
import { nameOf, namespaceOf } from './scope.ts';
import type { ResourceTarget } from './target.ts';
import { ApiError } from '../api/errors.ts';
import { watchEncoder } from './watch-encoder.ts';
import { WatchStream } from './watch-stream.ts';

/** setTimeout's longest. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** Answers with a stream of events, which outlives this call: until the client goes, its time is up, the server shuts down or the history is gone. */
export async function handleWatch(request: ServerRequest, target: ResourceTarget): Promise<void> {
  const form = outputForm(request, target, true);
  const options = parseWatchOptions(request.query, { target, name: nameOf(request) });
  const stream = openStream(request, target, form, options);
  try {
    stream.subscribed(await target.store.watch(namespaceOf(request, target), options, stream));
  } catch (error) {
    // A version that is no longer kept is told inside the stream, as upstream's watch cache does; clients then list again.
    if (error instanceof ApiError && error.code === 410) return stream.fail(error);
    if (stream.isStarted) throw error;
    stream.abandon();
    throw error;
  }
}

function openStream(request: ServerRequest, target: ResourceTarget, form: OutputForm, options: WatchRequestOptions): WatchStream {
  const begin = beginning(request, target, form);
  const encoder = watchEncoder(target, form, request.query);
  const metrics = target.environment.metrics?.watchesOf(request.info);
  return new WatchStream(request, begin, encoder, Math.min(timeoutMs(target, options.timeoutSeconds), TIMER_MAX_MS), metrics);
}

/** How the answer is to be begun: as one stream, or over a WebSocket with a message for each event (apiserver/pkg/endpoints/handlers/watch.go HandleWS). */
function beginning({ exchange }: ServerRequest, { environment }: ResourceTarget, form: OutputForm): () => ResponseStream | undefined {
  const contentType = negotiateStream(form, environment.hasCbor);
  const { webSockets } = environment;
  if (!webSockets?.isAsked(exchange)) return () => exchange.startStream(200, { 'content-type': contentType });
  if (form.mediaType === CBOR_TYPE) return () => webSockets.open(exchange, false);
  if (form.mediaType !== PROTOBUF_TYPE) return () => webSockets.open(exchange, true);
  return () => {
    const stream = webSockets.open(exchange, false);
    return stream && withoutLengths(stream);
  };
}

const LENGTH_BYTES = 4;

/** Messages have their own ends: protobuf's lengths, which tell events of one stream apart, are left out. */
const withoutLengths = (stream: ResponseStream): ResponseStream => ({
  get bufferedBytes() {
    return stream.bufferedBytes;
  },
  write: (chunk) => stream.write(chunk.subarray(LENGTH_BYTES)),
  onDrain: (listener) => stream.onDrain(listener),
  end: () => stream.end(),
  destroy: () => stream.destroy(),
});

/** Node keeps timers of one duration in one list, of any number in a heap: ten thousand watches have some hundred durations. */
const TIMEOUT_STEPS = 256;

/** Spread out, so that the watches of a busy moment do not all come back in another one. */
function timeoutMs({ environment }: ResourceTarget, timeoutSeconds: number): number {
  if (timeoutSeconds !== 0) return Math.max(0, timeoutSeconds * 1000);
  return environment.minRequestTimeoutMs * (1 + Math.floor(environment.random() * TIMEOUT_STEPS) / TIMEOUT_STEPS);
}
