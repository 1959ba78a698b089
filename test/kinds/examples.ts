import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { groupVersions, resourcesOf } from '../../src/apis/facts/resources.ts';
import { schemaOfKind } from '../../src/apis/facts/schemas.ts';
import type { ObjectSchema } from '../../src/schema/schema.ts';
import type { JsonObject } from '../../src/encoding/json-types.ts';
import { ORACLE_DIR } from '../support/paths.ts';

/** A resource that is kept, with objects of it that the reference has let in. */
export interface ExampleKind {
  /** `apps/v1/deployments` */
  name: string;
  schema: ObjectSchema;
  namespaced: boolean;
  /** Where it is created, in the namespace of the examples if it has one. */
  path: string;
  /** The name of each is unique wherever `freshCopy` makes it so. */
  examples: JsonObject[];
}

export const NAMESPACE = 'kinds';

interface Step {
  request?: { method: string; path: string; body?: unknown };
  expect?: { status: number };
}

const CORPORA = ['lifecycle', 'immutable', 'invalid', 'names', 'special'];
const MAX_EXAMPLES = 8;
/** What scenarios call their objects, wherever that stands in them. */
const SCENARIO_NAME = /\bn[0-9a-f]{8}\b/g;
const SCENARIO_NAMESPACE = /(?<="namespace":")n[0-9a-f]{8}(?=")/g;

/** In PKCS#10, for CN=alice with a key of Ed25519. */
export const CERTIFICATE_REQUEST = `-----BEGIN CERTIFICATE REQUEST-----
MIGPMEMCAQAwEDEOMAwGA1UEAwwFYWxpY2UwKjAFBgMrZXADIQCjVCqPZlTOHWuF
bnnGk8eqAQf4u6TnGocjXAjvwZLlK6AAMAUGAytlcANBAHE2OjI0Es0C8nt7hUPu
qXYcYI8wXqxd1WNSKLkH0LL5cydTsSKnPC1Af/KgMuy177cMJRmDTHqjf5YsUmAb
QgA=
-----END CERTIFICATE REQUEST-----
`;

/** What the corpora have no example of. */
const MORE_EXAMPLES: Record<string, JsonObject> = {
  'networking.k8s.io/v1/ipaddresses': {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IPAddress',
    metadata: { name: '192.168.7.1' },
    spec: { parentRef: { resource: 'services', namespace: 'default', name: 'web' } },
  },
  'certificates.k8s.io/v1/certificatesigningrequests': {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'n00000000' },
    spec: { request: Buffer.from(CERTIFICATE_REQUEST).toString('base64'), signerName: 'example.com/x', usages: ['client auth'] },
  },
};

/** Every stored resource of the versions that are on by default. */
export function exampleKinds(): ExampleKind[] {
  const recorded = recordedExamples();
  return groupVersions
    .filter(({ isOnByDefault }) => isOnByDefault)
    .flatMap(({ group, version, groupVersion }) =>
      resourcesOf(group, version)
        .filter(({ verbs }) => verbs.includes('create') && verbs.includes('update'))
        .map(({ plural, kind, namespaced }): ExampleKind => {
          const name = `${groupVersion}/${plural}`;
          const root = group === '' ? '/api' : '/apis';
          const path = `${root}/${groupVersion}/${namespaced ? `namespaces/${NAMESPACE}/` : ''}${plural}`;
          return { name, schema: schemaOfKind(group, version, kind), namespaced, path, examples: recorded.get(name) ?? [] };
        }),
    );
}

function recordedExamples(): Map<string, JsonObject[]> {
  const examples = new Map(Object.entries(MORE_EXAMPLES).map(([name, example]) => [name, [example]]));
  for (const { request, expect } of CORPORA.flatMap(stepsOf)) {
    if (request?.method !== 'POST' || expect?.status !== 201) continue;
    const name = resourceOf(request.path);
    const object = request.body as JsonObject | undefined;
    if (name === undefined || typeof object?.['metadata'] !== 'object') continue;
    const known = examples.get(name) ?? [];
    if (known.length < MAX_EXAMPLES) examples.set(name, [...known, object]);
  }
  return examples;
}

const stepsOf = (corpus: string): Step[] =>
  (JSON.parse(readFileSync(join(ORACLE_DIR, 'corpus', `${corpus}.json`), 'utf8')) as { steps: Step[] }[]).flatMap(({ steps }) => steps);

/** `/apis/apps/v1/namespaces/x/deployments?dryRun=All` → `apps/v1/deployments`; undefined for subresources. */
function resourceOf(path: string): string | undefined {
  const match = /^\/(?:api|apis\/([^/]+))\/([^/]+)\/(?:namespaces\/[^/]+\/)?([^/?]+)(?:\?|$)/.exec(path);
  if (!match) return undefined;
  return [match[1], match[2], match[3]].filter((part) => part !== undefined).join('/');
}

let copies = 0;

/** The example under a name that no other copy has, placed in the namespace of the examples. */
export const freshCopy = (kind: ExampleKind, example: JsonObject): JsonObject =>
  copyAs(kind, example, `k${(copies++).toString(16).padStart(8, '0')}`, NAMESPACE);

/** The example under another name, in another namespace. */
export function copyAs({ namespaced }: ExampleKind, example: JsonObject, name: string, namespace: string): JsonObject {
  const copy = JSON.parse(JSON.stringify(example).replaceAll(SCENARIO_NAMESPACE, namespace).replaceAll(SCENARIO_NAME, name)) as JsonObject;
  const metadata = copy['metadata'] as JsonObject;
  if (namespaced) metadata['namespace'] = namespace;
  else delete metadata['namespace'];
  delete metadata['resourceVersion'];
  return copy;
}
