import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Server as HttpsServer, createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { signCertificate } from '../src/serving/certificates/create.ts';
import { isJsonObject, parseJson, stringifyJson } from '../src/encoding/json.ts';
import type { Json, JsonObject } from '../src/encoding/json-types.ts';
import { convertObject } from './conversion.ts';
import { authority } from './hook-authority.ts';

/*
 * The webhooks that scenarios name as https://hooks/SCENARIO/BEHAVIOUR. Each of the two servers has a listener of its own, so that it is known who asks;
 * the answers follow from the path and the review alone, and so are the same for both.
 */

const MAX_REVIEWS = 50;

export class Hooks {
  readonly #server: HttpsServer;
  /** What admission webhooks were asked since it was last taken, by scenario. */
  readonly #reviews = new Map<string, Json[]>();

  constructor() {
    const { certPem, keyPem } = signCertificate(authority, { commonName: 'hooks', usages: ['server'], hosts: ['hooks'], ips: ['127.0.0.1'] });
    this.#server = createServer({ cert: certPem, key: keyPem }, (request, response) => void this.#answer(request, response).catch(() => response.destroy()));
    // Whoever asks ends its idle connections: one that ends here would now and then meet the next question.
    this.#server.keepAliveTimeout = 0;
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => void this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  /** Of five digits, as all free ports have: texts keep their length when it is replaced. */
  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close().closeAllConnections();
  }

  /** What the scenario's admission webhooks were asked since the last time. */
  take(scenario: string): Json[] {
    const reviews = this.#reviews.get(scenario) ?? [];
    this.#reviews.delete(scenario);
    return reviews;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const review = parseJson(Buffer.concat(chunks)) as JsonObject;
    const [, scenario = '', behaviour = ''] = request.url!.split('?', 1)[0]!.split('/');
    const asked = review['request'] as JsonObject;
    if (review['kind'] === 'AdmissionReview' && asked['dryRun'] !== 'probe') this.#keep(scenario, behaviour, asked);
    const answer = review['kind'] === 'ConversionReview' ? convert(behaviour, asked) : admit(behaviour, asked);
    response.setHeader('content-type', 'application/json');
    response.end(stringifyJson({ apiVersion: review['apiVersion'], kind: review['kind'], response: { uid: asked['uid'], ...answer } }));
  }

  #keep(scenario: string, behaviour: string, asked: JsonObject): void {
    const reviews = this.#reviews.get(scenario) ?? [];
    this.#reviews.set(scenario, reviews);
    const { uid: _uid, ...rest } = asked;
    if (reviews.length < MAX_REVIEWS && !String(asked['name']).endsWith('-probe')) reviews.push({ behaviour, ...rest });
  }
}

function convert(behaviour: string, { desiredAPIVersion, objects }: JsonObject): JsonObject {
  if (behaviour === 'refuse') return { result: { status: 'Failure', message: 'no conversion today' } };
  const converted = (objects as JsonObject[]).map((object) => convertObject(behaviour, object, desiredAPIVersion as string));
  return { result: { status: 'Success' }, convertedObjects: behaviour === 'drop' ? converted.slice(1) : converted };
}

/** `deny`, `warn`, `label`, `replicas`, …: what an admission webhook does. A name that ends in `-probe` is always denied: so its configuration is seen to work. */
function admit(behaviour: string, asked: JsonObject): JsonObject {
  const name = String(asked['name']);
  if (name.endsWith('-probe')) return { allowed: false, status: { message: 'probed', code: 418 } };
  const patch = (...operations: Json[]): JsonObject => ({
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(stringifyJson(operations)).toString('base64'),
  });
  const object = isJsonObject(asked['object']) ? asked['object'] : undefined;
  switch (behaviour) {
    case 'deny':
      return { allowed: false, status: { message: `${name} may not be`, reason: 'Because', code: 409, details: { causes: [{ message: 'why' }] } } };
    case 'deny-bare':
      return { allowed: false };
    case 'warn':
      return { allowed: true, warnings: ['first warning', 'second "warning"', 'x'.repeat(300)] };
    case 'annotate':
      return { allowed: true, auditAnnotations: { seen: 'yes' } };
    case 'label':
      return object ? patch({ op: 'add', path: '/metadata/labels', value: { hooked: 'yes' } }) : { allowed: true };
    case 'host':
      return object && isJsonObject(object['spec']) ? patch({ op: 'add', path: '/spec/host', value: 'hooked' }) : { allowed: true };
    case 'unknown-field':
      return object ? patch({ op: 'add', path: '/notAField', value: 1 }) : { allowed: true };
    case 'bad-patch':
      return object ? patch({ op: 'remove', path: '/not/there' }) : { allowed: true };
    case 'bad-value':
      return object ? patch({ op: 'add', path: '/metadata/labels', value: { 'not a label!': 'yes' } }) : { allowed: true };
    case 'rename':
      return object ? patch({ op: 'replace', path: '/metadata/name', value: `${name}-other` }) : { allowed: true };
    case 'not-a-patch':
      return { allowed: true, patchType: 'JSONPatch', patch: Buffer.from('{}').toString('base64') };
    case 'no-patch-type':
      return { allowed: true, patch: Buffer.from('[]').toString('base64') };
    default:
      return { allowed: true };
  }
}
