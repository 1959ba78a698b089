import { expect, test } from 'vitest';
import { folderOf, parsePackage, withoutComments } from './go-source.ts';

test('comments go, what only looks like one stays', () => {
  expect(withoutComments('a // b\n"// c" /* d\ne */ `/* f */` \'"\' // g')).toBe('a \n"// c"  `/* f */` \'"\' ');
});

test('import paths and folders', () => {
  expect(folderOf('k8s.io/api/core/v1')).toBe('staging/src/k8s.io/api/core/v1');
  expect(folderOf('k8s.io/kubernetes/pkg/apis/core')).toBe('pkg/apis/core');
});

test('structs, named types and imports', () => {
  const source = [
    'package v1',
    'import (',
    '\tmetav1 "k8s.io/apimachinery/pkg/apis/meta/v1"',
    '\t"k8s.io/apimachinery/pkg/types"',
    ')',
    'type Ship struct {',
    '\tmetav1.TypeMeta `json:",inline"`',
    '\t*Hull',
    '\tName  string `json:"name,omitempty" protobuf:"bytes,1,opt,name=name"`',
    '\tCargo map[string]types.UID `json:"cargo"`',
    '}',
    'type Empty struct{}',
    'type Flag string',
    'type Flags []Flag',
    'type Old = metav1.Time',
    'type Sailor interface {',
    '}',
    'type Sail func()',
  ].join('\n');
  const { name, structs, named, imports } = parsePackage([source]);
  expect(name).toBe('v1');
  expect(structs.get('Empty')).toEqual([]);
  expect(structs.get('Ship')).toEqual([
    { name: 'TypeMeta', type: 'metav1.TypeMeta', isEmbedded: true, tags: { json: ',inline' } },
    { name: 'Hull', type: '*Hull', isEmbedded: true, tags: {} },
    { name: 'Name', type: 'string', isEmbedded: false, tags: { json: 'name,omitempty', protobuf: 'bytes,1,opt,name=name' } },
    { name: 'Cargo', type: 'map[string]types.UID', isEmbedded: false, tags: { json: 'cargo' } },
  ]);
  expect(Object.fromEntries(named)).toEqual({ Flag: 'string', Flags: '[]Flag', Old: '= metav1.Time' });
  expect(Object.fromEntries(imports)).toEqual({ metav1: 'k8s.io/apimachinery/pkg/apis/meta/v1', types: 'k8s.io/apimachinery/pkg/types' });
});
