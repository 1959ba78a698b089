import { expect, test } from 'vitest';
import { messagesOf } from './protobuf-messages.ts';

test('fields with numbers and types', () => {
  const text = [
    'package k8s.io.api.sea.v1;',
    '// message Not {',
    'message Ship {',
    '  // optional string not = 9;',
    '  optional .k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta metadata = 1;',
    '  repeated Hull hulls = 3;',
    '  map<string, .k8s.io.api.sea.v1.Sail> sails = 12;',
    '  optional bytes cargo = 2;',
    '}',
    'message Hull {',
    '}',
  ].join('\n');
  expect(messagesOf(text)).toEqual([
    [
      'k8s.io.api.sea.v1.Ship',
      {
        cargo: { number: 2, type: 'bytes' },
        hulls: { number: 3, repeated: true, type: 'k8s.io.api.sea.v1.Hull' },
        metadata: { number: 1, type: 'k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta' },
        sails: { number: 12, map: ['string', 'k8s.io.api.sea.v1.Sail'] },
      },
    ],
    ['k8s.io.api.sea.v1.Hull', {}],
  ]);
});
