import { expect, test } from 'vitest';
import { schemaOfKind } from '../apis/facts/schemas.ts';
import { parseYaml, toYaml } from '../encoding/yaml.ts';
import { MetricRegistry } from '../metrics/registry.ts';
import { unservedCodec } from '../registry/stored-codec.ts';
import { withDecodeErrors } from './codec.ts';
import { StorageMetrics } from './storage-metrics.ts';

test('stored values that can not be decoded are counted; those that can not be decrypted are not', () => {
  const registry = new MetricRegistry();
  const metrics = new StorageMetrics(registry, false).of('apps', 'deployments');
  const encoding = { mediaType: 'application/vnd.kubernetes.protobuf', yaml: { parseYaml, toYaml } } as const;
  const codec = withDecodeErrors(unservedCodec(schemaOfKind('apps', 'v1', 'Deployment'), encoding), () => metrics.decodeFailed());
  const stored = Buffer.from(codec.encode({ kind: 'Deployment', apiVersion: 'apps/v1', metadata: { name: 'x' } }));
  expect(codec.toClientBytes(stored, 7).toString()).toContain('"resourceVersion":"7"');
  expect(() => codec.toClientBytes(Buffer.from('k8s:enc:aesgcm:v1:key:x'), 7)).toThrow('encrypted data');
  expect(registry.print()).not.toContain('apiserver_storage_decode_errors_total');
  expect(() => codec.toClientBytes(stored.subarray(0, -5), 7)).toThrow('unexpected EOF');
  expect(registry.print()).toContain('apiserver_storage_decode_errors_total{group="apps",resource="deployments"} 1\n');
});
