import { writeFileSync } from 'node:fs';
import { type ServerHttp2Session, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ProtobufReader } from '../src/encoding/protobuf-wire.ts';
import { type ServerProcess, startServer, temporaryFolder } from './support/server.ts';
import { ALLOWED, WebhookServer } from './support/webhook-server.ts';

const FRAME_BYTES = 5;
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const REMOTE = `00-${TRACE_ID}-b7ad6b7169203331-01`;
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

interface ReadSpan {
  traceId: string;
  spanId: string;
  parentId: string;
  name: string;
  linkedTo: string | undefined;
}

/** A collector that takes traces by OTLP over gRPC. */
class Collector {
  readonly spans: ReadSpan[] = [];
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #server = createServer();

  constructor() {
    this.#server.on('session', (session) => this.#sessions.add(session));
    this.#server.on('stream', async (stream) => {
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk as Buffer);
      this.spans.push(...spansOf(Buffer.concat(chunks).subarray(FRAME_BYTES)));
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(Buffer.alloc(FRAME_BYTES));
    });
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }
  close(): void {
    for (const session of this.#sessions) session.destroy();
    this.#server.close();
  }
}

/** Fields that are messages, text or bytes, by number. */
function fieldsOf(message: Buffer): Map<number, Buffer[]> {
  const reader = new ProtobufReader(message);
  const fields = new Map<number, Buffer[]>();
  while (!reader.done) {
    const tag = reader.varint();
    if (tag % 8 === 2) fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), reader.bytes()]);
    else reader.skip(tag);
  }
  return fields;
}

const below = (messages: Buffer[] | undefined, number: number): Buffer[] => (messages ?? []).flatMap((message) => fieldsOf(message).get(number) ?? []);

function spansOf(message: Buffer): ReadSpan[] {
  const spans = below(below(fieldsOf(message).get(1), 2), 2).map(fieldsOf);
  const hex = (fields: Map<number, Buffer[]>, number: number): string => fields.get(number)?.[0]?.toString('hex') ?? '';
  return spans.map((fields) => ({
    traceId: hex(fields, 1),
    spanId: hex(fields, 2),
    parentId: hex(fields, 4),
    name: String(fields.get(5)?.[0]),
    linkedTo: below(fields.get(13), 1)[0]?.toString('hex'),
  }));
}

let collector: Collector;
let server: ServerProcess;

async function startTraced(configuration: string): Promise<ServerProcess> {
  const path = join(temporaryFolder(), 'tracing.yaml');
  writeFileSync(path, `apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n${configuration}`);
  return startServer({ flags: [`--tracing-config-file=${path}`] });
}

beforeAll(async () => {
  collector = await new Collector().listen();
  server = await startTraced(`endpoint: 127.0.0.1:${collector.port}\n`);
});
afterAll(() => collector.close());

test('the trace of a trusted client goes on through the server to webhooks; others only begin to be known', async () => {
  const client = server.client();
  const hook = await new WebhookServer(() => ALLOWED).listen();
  await client.create('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    metadata: { name: 'traced' },
    webhooks: [
      {
        name: 'traced.example.com',
        rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
        clientConfig: hook.clientConfig,
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  });
  const headers = { traceparent: REMOTE };
  await client.expect(201, { method: 'POST', path: CONFIG_MAPS, headers, body: { metadata: { name: 'traced' } } });
  await client.expect(200, { path: '/version', headers: { traceparent: REMOTE.replace(/01$/, '00') } });
  await server.client('alice').expect(200, { path: '/version', headers });
  await server.stop();

  const request = collector.spans.find(({ name }) => name.startsWith('POST'))!;
  expect(request).toMatchObject({ name: 'POST /api/v1/namespaces/{:namespace}/configmaps', traceId: TRACE_ID, parentId: 'b7ad6b7169203331' });
  expect(hook.traceparents).toEqual([`00-${TRACE_ID}-${request.spanId}-01`]);
  const parts = collector.spans.filter(({ parentId }) => parentId === request.spanId).map(({ name }) => name);
  expect(parts).toEqual(expect.arrayContaining(['authorization', 'etcd', 'validating-webhook']));
  // Neither the trace that is not sampled, nor alice's, who cannot have hers sampled.
  expect(collector.spans.filter(({ name }) => name === 'GET')).toEqual([]);
});

test('a rate of a million per million samples all, and says where a trace of somebody else led here', async () => {
  const all = await startTraced(`endpoint: 127.0.0.1:${collector.port}\nsamplingRatePerMillion: 1000000\n`);
  collector.spans.length = 0;
  await all.client('alice').expect(200, { path: '/version', headers: { traceparent: REMOTE } });
  await all.stop();
  const span = collector.spans.find(({ linkedTo }) => linkedTo !== undefined);
  expect(span).toMatchObject({ name: 'GET', parentId: '', linkedTo: TRACE_ID });
  expect(span!.traceId).not.toBe(TRACE_ID);
});

test('a collector that is away costs a line, and nothing else', async () => {
  const alone = await startTraced('endpoint: 127.0.0.1:1\nsamplingRatePerMillion: 1000000\n');
  await alone.client().expect(200, { path: '/version' });
  await alone.stop();
  expect(alone.lines.filter((line) => line.includes('Traces cannot be sent'))).toHaveLength(1);
});
