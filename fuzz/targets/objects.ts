import { schemaOfKind } from '../../src/apis/facts/schemas.ts';
import type { JsonObject } from '../../src/encoding/json-types.ts';

/* Objects that several targets begin with. */

export const POD_SCHEMA = schemaOfKind('', 'v1', 'Pod');

export const pod = (): JsonObject & { apiVersion: string; kind: string } => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'default', labels: { app: 'web', tier: 'x' }, finalizers: ['example.org/a', 'example.org/b'] },
  spec: {
    containers: [
      { name: 'a', image: 'b', args: ['x', 'y'], env: [{ name: 'A', value: 'b' }], ports: [{ containerPort: 80, protocol: 'TCP' }] },
      { name: 'c', image: 'd', resources: { limits: { cpu: '100m', memory: '1Gi' } }, livenessProbe: { httpGet: { port: 'web', path: '/' } } },
    ],
    volumes: [
      { name: 'v', emptyDir: {} },
      { name: 'w', secret: { secretName: 's', items: [{ key: 'k', path: 'p' }] } },
    ],
    tolerations: [{ key: 'k', operator: 'Exists', tolerationSeconds: 30 }],
    terminationGracePeriodSeconds: 9007199254740991,
  },
  status: { startTime: '2024-01-02T03:04:05Z', conditions: [{ type: 'Ready', status: 'True' }] },
});
