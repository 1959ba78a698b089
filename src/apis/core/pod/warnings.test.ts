import { testWrite } from '../../testing/kind-tester.ts';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../encoding/json-types.ts';
import { pods } from './pod.ts';
import { podTemplateWarnings } from './template.ts';
import { decodePod, newPod } from './test-pods.ts';

const warningsOf = (spec: JsonObject, metadata: JsonObject = {}): string[] => pods.warnings!(testWrite(newPod(spec, metadata)));
const app = { name: 'app', image: 'app:1' };

describe('warnings', () => {
  it.each<[string, JsonObject, string[]]>([
    ['nothing odd', {}, []],
    [
      'an old label of nodes',
      { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } },
      ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
    ],
    [
      'a selector of nothing',
      { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' }] },
      ['spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod'],
    ],
    [
      'a retired volume',
      { volumes: [{ name: 'v', rbd: { monitors: ['m'], image: 'i' } }] },
      ['spec.volumes[0].rbd: deprecated in v1.28, non-functional in v1.31+'],
    ],
    [
      'paths that meet',
      {
        volumes: [
          {
            name: 'v',
            configMap: {
              name: 'c',
              items: [
                { key: 'a', path: 'x' },
                { key: 'b', path: 'x/y' },
              ],
            },
          },
        ],
      },
      ['volume "v" (ConfigMap "c"): overlapping paths: "x/y" with "x"'],
    ],
    [
      'a hidden variable',
      {
        containers: [
          {
            ...app,
            env: [
              { name: 'A', value: '1' },
              { name: 'A', value: '2' },
              { name: 'A', value: '$(A)3' },
            ],
          },
        ],
      },
      ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
    ],
    [
      'half a byte',
      { containers: [{ ...app, resources: { requests: { memory: '500m' } } }] },
      ['spec.containers[0].resources.requests[memory]: fractional byte value "500m" is invalid, must be an integer'],
    ],
    [
      'a port twice',
      { containers: [{ ...app, ports: [{ containerPort: 80 }, { containerPort: 80 }] }] },
      ['spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]'],
    ],
  ])('%s', (_what, spec, expected) => {
    expect(warningsOf(spec)).toEqual(expected);
  });

  it('a name that is no label', () => {
    expect(warningsOf({}, { name: 'a.b' })).toEqual([
      "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
    ]);
  });

  it('stand at the template’s path', () => {
    const { metadata, spec } = decodePod({ nodeSelector: { 'beta.kubernetes.io/arch': 'x' } });
    expect(podTemplateWarnings({ metadata, spec }, 'spec.template')).toEqual([
      'spec.template.spec.nodeSelector[beta.kubernetes.io/arch]: deprecated since v1.14; use "kubernetes.io/arch" instead',
    ]);
  });
});
