import { expect, test } from 'vitest';
import { internalTypes } from './internal-types.ts';
import { testTree } from './test-tree.ts';

const tree = testTree({
  'pkg/apis/core/types.go': [
    'package core',
    'type Protocol string',
    'type PodTemplateSpec struct {',
    '\tmetav1.ObjectMeta',
    '\tSpec PodSpec',
    '}',
    'type PodSpec struct {',
    '\tDNSPolicy Protocol',
    '\tHandler',
    '\tPorts []Port',
    '\tPort *Port',
    '\tArgs []string',
    '\tGrace *int64',
    '\tSelector *metav1.LabelSelector',
    '}',
    'type Handler struct {',
    '\tTarget intstr.IntOrString',
    '}',
    'type Port struct {',
    '\tHostPort int32',
    '\tReadOnly bool',
    '}',
  ].join('\n'),
  'staging/src/k8s.io/api/core/v1/types.go':
    'package v1\ntype PodSpec struct {\n\tDNSPolicy string `json:"dnsPolicy,omitempty"`\n\tPorts []Port `json:"ports"`\n}\n',
});

test('internal types by what messages show of them', () => {
  expect(internalTypes(tree)).toMatchObject({
    PodTemplateSpec: ':metadata=meta Spec=PodSpec',
    PodSpec: 'DNSPolicy:dnsPolicy="" Target=0 Ports=[]Port Port=*Port Args Grace Selector',
    Port: 'HostPort=0 ReadOnly=false',
  });
});
