import type { NodeTracing } from 'node:inspector';
import type { ResponseStream } from '../../serving/exchange.ts';
import { delay } from '../../util/delay.ts';
import type { InFlightRequests } from '../in-flight.ts';
import type { InspectorSessions } from './inspector-session.ts';

/** Garbage collections, turns of the event loop, timers, file and DNS calls, marks of performance.mark. */
const CATEGORIES = ['v8', 'node.environment', 'node.perf', 'node.fs.sync', 'node.fs.async', 'node.dns.native', 'node.net.native'];
/** A client that reads slower than events come is not sent more than this ahead; what comes meanwhile is left out, and the end says how many. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024;
const MICROSECONDS_IN_MS = 1000;

interface TraceEvent {
  [field: string]: unknown;
}

/**
 * Streams what happens in so many seconds as a Chrome trace (JSON array of events), which chrome://tracing, Perfetto and speedscope open. Requests that are
 * under way at the end are events of their own, as long as they have been there.
 */
export async function streamTrace(sessions: InspectorSessions, seconds: number, signal: AbortSignal, begin: () => ResponseStream, requests: InFlightRequests) {
  await sessions.use('tracing', async (session) => {
    const writer = new EventWriter(begin());
    const completed = new Promise<void>((resolve) => session.once('NodeTracing.tracingComplete', () => resolve()));
    session.on('NodeTracing.dataCollected', ({ params }: { params: NodeTracing.DataCollectedEventDataType }) => writer.write(params.value as TraceEvent[]));
    await session.post('NodeTracing.start', { traceConfig: { includedCategories: CATEGORIES } });
    await delay(seconds * 1000, signal);
    await session.post('NodeTracing.stop');
    await completed;
    writer.write(requestEvents(requests));
    writer.end();
  });
}

/** The clock of traces is the monotonic one, which process.hrtime reads. */
function requestEvents(requests: InFlightRequests): TraceEvent[] {
  const nowUs = Number(process.hrtime.bigint() / 1000n);
  return requests.list().map((request, index) => {
    const dur = Math.round((performance.now() - request.receivedAtMs) * MICROSECONDS_IN_MS);
    const { verb, resource, path } = request.info;
    return {
      pid: process.pid,
      tid: index,
      ts: nowUs - dur,
      dur,
      ph: 'X',
      cat: 'request',
      name: `${verb} ${resource || path}`,
      args: { auditId: request.auditId },
    };
  });
}

class EventWriter {
  readonly #stream: ResponseStream;
  #isFirst = true;
  #leftOut = 0;

  constructor(stream: ResponseStream) {
    this.#stream = stream;
    stream.write(Buffer.from('{"traceEvents":[\n'));
  }

  write(events: readonly TraceEvent[]): void {
    if (events.length === 0) return;
    if (this.#stream.bufferedBytes > MAX_UNREAD_BYTES) {
      this.#leftOut += events.length;
      return;
    }
    const text = events.map((event) => JSON.stringify(event)).join(',\n');
    this.#stream.write(Buffer.from(this.#isFirst ? text : `,\n${text}`));
    this.#isFirst = false;
  }

  end(): void {
    this.#stream.write(Buffer.from(`\n],"metadata":{"eventsLeftOut":${this.#leftOut}}}\n`));
    this.#stream.end();
  }
}
