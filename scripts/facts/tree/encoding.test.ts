import { expect, test } from 'vitest';
import { encodingFacts } from './encoding.ts';
import { testTree } from './test-tree.ts';

const META = 'staging/src/k8s.io/apimachinery/pkg/apis/meta/v1';
const API = 'staging/src/k8s.io/api';

const tree = testTree({
  [`${META}/types.go`]:
    'package v1\ntype TypeMeta struct {\n\tKind string `json:"kind,omitempty"`\n}\ntype Time struct {\n\ttime.Time\n}\ntype List struct {\n\tItems []string `json:"items"`\n}\n',
  'staging/src/k8s.io/apimachinery/pkg/types/uid.go': 'package types\ntype UID string\n',
  [`${API}/sea/v1/register.go`]: 'package v1\nconst GroupName = "sea.example.com"\n',
  [`${API}/sea/v1/types.go`]: [
    'package v1',
    'import (',
    '\tmetav1 "k8s.io/apimachinery/pkg/apis/meta/v1"',
    '\t"k8s.io/apimachinery/pkg/types"',
    ')',
    'type Flag string',
    'type Bounds map[Flag]int32',
    'type Hull struct {',
    '\tLength int32 `json:"length" protobuf:"varint,1,opt,name=length"`',
    '}',
    '// Ship has comments.',
    'type Ship struct {',
    '\tmetav1.TypeMeta `json:",inline"`',
    '\tHull `json:",inline" protobuf:"bytes,8,opt,name=hull"`',
    '\tUID types.UID `json:"uid,omitempty" protobuf:"bytes,1,opt,name=uID"`',
    '\tFlag *Flag `json:"flag,omitempty"`',
    '\tFlags []Flag `json:"flags,omitzero"`',
    '\tBounds Bounds `json:"bounds"`',
    '\tHulls []Hull `json:"hulls"`',
    '\tSeen metav1.Time `json:"seen"`',
    '\tHidden string `json:"-"`',
    '}',
    'type Fleet metav1.List',
    'type plain struct {',
    '\tcount int',
    '}',
  ].join('\n'),
  [`${API}/sea/v1beta1/types.go`]:
    'package v1beta1\nimport (\n\t"k8s.io/api/sea/v1"\n)\nconst GroupName = "sea.example.com"\ntype Flag = v1.Flag\ntype Ship struct {\n\tFlag Flag `json:"flag"`\n}\n',
  'cmd/kube-apiserver/app/aggregator.go':
    'package app\nvar p = map[a]b{\n\t{Group: "sea.example.com", Version: "v1"}: {Group: 15000, Version: 7},\n\t{Group: "", Version: "v1"}: {Group: 18000, Version: 1},\n}\n',
  'pkg/controlplane/apiserver/aggregator.go': 'package apiserver\nvar p = map[a]b{\n\t{Group: "sea.example.com", Version: "v1"}: {Group: 1, Version: 1},\n}\n',
});

test('fields with their flags, names in protobuf and types', () => {
  const { groups, priorities, types } = encodingFacts(tree, new Set(['sea.example.com/v1']));
  expect(groups).toEqual({ 'io.k8s.api.sea.v1': 'sea.example.com', 'io.k8s.api.sea.v1beta1': 'sea.example.com' });
  expect(priorities).toEqual({ 'sea.example.com/v1': [15000, 7] });
  expect(types['io.k8s.api.sea.v1.Ship']).toEqual([
    '...TypeMeta',
    '...hull:io.k8s.api.sea.v1.Hull',
    'uid?=uID types.UID',
    'flag*? v1.Flag',
    'flags! []v1.Flag',
    'bounds v1.Bounds',
    'hulls',
    'seen',
  ]);
  expect(types['io.k8s.api.sea.v1beta1.Ship']).toEqual(['flag v1.Flag']);
  expect(Object.keys(types)).toEqual([
    'io.k8s.api.sea.v1.Fleet',
    'io.k8s.api.sea.v1.Hull',
    'io.k8s.api.sea.v1.Ship',
    'io.k8s.api.sea.v1beta1.Ship',
    'io.k8s.apimachinery.pkg.apis.meta.v1.List',
  ]);
});
