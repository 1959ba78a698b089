import { expect, test } from 'vitest';
import { publishedDocuments } from './published.ts';
import { testTree } from './test-tree.ts';

test('documents of stable versions and of groups that have one are on by default', () => {
  const document = JSON.stringify({ info: { description: 'words', title: 'Kubernetes' } });
  const names = ['api', 'api__v1', 'apis', 'apis__apps', 'apis__apps__v1', 'apis__apps__v1beta1', 'apis__sea', 'apis__sea__v1alpha1', 'logs', 'version'];
  const tree = testTree({
    ...Object.fromEntries(names.map((name) => [`api/openapi-spec/v3/${name}_openapi.json`, document])),
    'api/openapi-spec/README.md': '',
    'api/discovery/aggregated_v2.json': '{}',
    'api/discovery/apis__apps__v1.json': '{"kind":"APIResourceList"}',
    'api/discovery/apis__sea__v1alpha1.json': '{"kind":"APIResourceList"}',
  });
  const files = publishedDocuments(tree);
  expect([...files.keys()].toSorted()).toEqual([
    'discovery/apis__apps__v1.json',
    'openapi-v3/api.json',
    'openapi-v3/api__v1.json',
    'openapi-v3/apis.json',
    'openapi-v3/apis__apps.json',
    'openapi-v3/apis__apps__v1.json',
    'openapi-v3/version.json',
    'optional/discovery/apis__sea__v1alpha1.json',
    'optional/openapi-v3/apis__apps__v1beta1.json',
    'optional/openapi-v3/apis__sea.json',
    'optional/openapi-v3/apis__sea__v1alpha1.json',
  ]);
  expect(JSON.parse(files.get('openapi-v3/version.json')!)).toEqual({ info: { title: 'Kubernetes' } });
});
