import { isJsonObject } from '../src/encoding/json.ts';
import type { JsonObject } from '../src/encoding/json-types.ts';

/** The object in another version, as a converter of the given behaviour answers it. What the versions disagree on is where `spec.host` and `spec.port` stand. */
export function convertObject(behaviour: string, object: JsonObject, apiVersion: string): JsonObject {
  const converted: JsonObject = { ...structuredClone(object), apiVersion };
  const spec = isJsonObject(converted['spec']) ? converted['spec'] : undefined;
  if (spec && !apiVersion.endsWith('/v1')) split(spec);
  else if (spec) join(spec);
  if (behaviour === 'unknown-fields') Object.assign(converted, { extra: { a: 1 }, spec: { ...spec, notInTheSchema: [1] } });
  if (behaviour === 'rename' && isJsonObject(converted['metadata'])) converted['metadata']['name'] = 'other';
  if (behaviour === 'label' && isJsonObject(converted['metadata'])) converted['metadata']['labels'] = { converted: 'yes' };
  if (behaviour === 'wrong-version') converted['apiVersion'] = object['apiVersion'];
  if (behaviour === 'invalid' && spec) spec['count'] = 'many';
  return converted;
}

/** `hostPort: a:1` → `host: a`, `port: 1` */
function split(spec: JsonObject): void {
  if (typeof spec['hostPort'] !== 'string') return;
  const [host, port] = spec['hostPort'].split(':');
  delete spec['hostPort'];
  spec['host'] = host;
  if (port !== undefined) spec['port'] = port;
}

function join(spec: JsonObject): void {
  if (typeof spec['host'] !== 'string') return;
  spec['hostPort'] = typeof spec['port'] === 'string' ? `${spec['host']}:${spec['port']}` : spec['host'];
  delete spec['host'];
  delete spec['port'];
}
