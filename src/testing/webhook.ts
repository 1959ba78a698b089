import { type Server, createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { EmbeddedServer } from '../compose/embedded.ts';
import { signCertificate } from '../serving/certificates/create.ts';
import { answerAdmission, type AdmissionHandler } from './admission-handler.ts';
import { answerConversion, type ConversionHandler } from './conversion-handler.ts';
import type { ObjectClient } from './object-client.ts';
import type { KubernetesObject } from './objects.ts';
import { untilServed } from './served.ts';
import type { AdmissionWebhookOptions, ConversionWebhookOptions, TestWebhook } from './webhook-options.ts';

/** More than a request to a webhook can have: an object and the one before it. */
const BODY_LIMIT_BYTES = 8 * 1024 * 1024;
const NAME_PREFIX = 'binnacle-test-webhook';
let webhookCount = 0;

type Answer = (review: KubernetesObject) => Promise<KubernetesObject>;

/** Serves an admission handler with a certificate that the API server trusts, and registers it. */
export async function serveAdmission(
  server: EmbeddedServer,
  objects: ObjectClient,
  handler: AdmissionHandler,
  { type = 'validating', resources, operations = ['CREATE', 'UPDATE'] }: AdmissionWebhookOptions,
): Promise<TestWebhook> {
  const { url, close } = await serve(server, (review) => answerAdmission(review, handler));
  const name = `${NAME_PREFIX}-${++webhookCount}`;
  const kind = type === 'mutating' ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration';
  const webhook = {
    name: `${name}.binnacle.test`,
    clientConfig: { url, caBundle: Buffer.from(server.cluster.authority.certPem).toString('base64') },
    rules: resources.map((resource) => ruleOf(resource, operations)),
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  const reference = { apiVersion: 'admissionregistration.k8s.io/v1', kind, name };
  try {
    await objects.create({ apiVersion: reference.apiVersion, kind, metadata: { name }, webhooks: [webhook] });
  } catch (error) {
    await close();
    throw error;
  }
  return { url, stop: () => objects.delete(reference).finally(close) };
}

/** `deployments.apps/scale` → the group apps and the resource deployments/scale, in all versions. */
function ruleOf(resource: string, operations: readonly string[]): KubernetesObject {
  const [qualified = '', subresource] = resource.split('/');
  const dot = qualified.indexOf('.');
  const plural = dot < 0 ? qualified : qualified.slice(0, dot);
  return {
    apiGroups: [dot < 0 ? '' : qualified.slice(dot + 1)],
    apiVersions: ['*'],
    resources: [subresource === undefined ? plural : `${plural}/${subresource}`],
    operations,
  };
}

/** Serves a conversion handler, and has the definition call it. */
export async function serveConversion(
  server: EmbeddedServer,
  objects: ObjectClient,
  handler: ConversionHandler,
  { crd }: ConversionWebhookOptions,
): Promise<TestWebhook> {
  const { url, close } = await serve(server, (review) => answerConversion(review, handler));
  const caBundle = Buffer.from(server.cluster.authority.certPem).toString('base64');
  const setConversion = async (conversion: object): Promise<void> => {
    const path = await objects.paths.object({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: crd });
    const changed = await objects.client.request<KubernetesObject>('PATCH', path, {
      body: { spec: { conversion } },
      contentType: 'application/merge-patch+json',
    });
    await untilServed(objects.client, changed);
  };
  try {
    await setConversion({ strategy: 'Webhook', webhook: { clientConfig: { url, caBundle }, conversionReviewVersions: ['v1'] } });
  } catch (error) {
    await close();
    throw error;
  }
  return { url, stop: () => setConversion({ strategy: 'None', webhook: null }).finally(close) };
}

async function serve({ cluster }: EmbeddedServer, answer: Answer): Promise<{ url: string; close(): Promise<void> }> {
  const { certPem, keyPem } = signCertificate(cluster.authority, { commonName: NAME_PREFIX, usages: ['server'], ips: ['127.0.0.1'] });
  const server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
    const parts: Buffer[] = [];
    let sizeBytes = 0;
    request.on('data', (part: Buffer) => ((sizeBytes += part.length) > BODY_LIMIT_BYTES ? request.destroy() : parts.push(part)));
    request.once('end', async () => {
      const [status, body] = await answerTo(parts, answer);
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  // The API server's calls keep a program alive, not this; a test that ends without stop() still ends.
  server.unref();
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`, close: () => closeServer(server) };
}

async function answerTo(parts: readonly Buffer[], answer: Answer): Promise<[number, string]> {
  try {
    return [200, JSON.stringify(await answer(JSON.parse(Buffer.concat(parts).toString('utf8')) as KubernetesObject))];
  } catch (error) {
    return [500, (error as Error).message];
  }
}

const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
