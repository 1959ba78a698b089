import { expect, test } from 'vitest';
import { type TestedWrite, writeOf } from '../testing/attributes.ts';
import { LabelIndex } from './label-index.ts';
import { type MatchFacts, ResourceMatcher } from './matching.ts';

const hook = (name: string, selectors: object = {}) => ({ name, matcher: new ResourceMatcher(selectors) });
const labels = (matchLabels: object): object => ({ matchLabels });

const HOOKS = [
  hook('object a=1', { objectSelector: labels({ a: '1' }) }),
  hook('any'),
  hook('namespace n=1', { namespaceSelector: labels({ n: '1' }) }),
  hook('object a in 1,2', { objectSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['1', '2'] }] } }),
  hook('object a not 1', { objectSelector: { matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['1'] }] } }),
  hook('both', { objectSelector: labels({ b: '1' }), namespaceSelector: labels({ n: '1' }) }),
];
const index = new LabelIndex(HOOKS);

interface Case {
  object?: Record<string, string>;
  old?: Record<string, string>;
  namespace?: Record<string, string> | Error;
  isClusterWide?: boolean;
}

function candidates({ object, old, namespace = {}, isClusterWide = false }: Case): string[] {
  const write: TestedWrite = writeOf('pods', { metadata: { name: 'x', ...(object && { labels: object }) } });
  const attributes = { ...write, oldObject: old && { kind: '', apiVersion: '', metadata: { name: 'x', labels: old } } };
  const facts = { attributes, isClusterWide, namespace: () => (namespace instanceof Error ? namespace : { labels: namespace }) };
  return index.candidates(facts as unknown as MatchFacts).map(({ name }) => name);
}

test.each<[string, Case, string[]]>([
  ['no labels', {}, ['any', 'object a not 1']],
  ['a label of the object', { object: { a: '1' } }, ['object a=1', 'any', 'object a in 1,2', 'object a not 1']],
  ['another value', { object: { a: '2' } }, ['any', 'object a in 1,2', 'object a not 1']],
  ['one of the old object', { object: {}, old: { a: '1' } }, ['object a=1', 'any', 'object a in 1,2', 'object a not 1']],
  ['a label of the namespace', { namespace: { n: '1' } }, ['any', 'namespace n=1', 'object a not 1']],
  ['both', { object: { b: '1' }, namespace: { n: '2' } }, ['any', 'object a not 1', 'both']],
  ['in no namespace', { isClusterWide: true }, ['any', 'namespace n=1', 'object a not 1']],
  ['in a namespace that is missing', { namespace: new Error('missing') }, ['any', 'namespace n=1', 'object a not 1']],
  ['a label that is called as a part of every object', { object: { constructor: 'x', __proto__: 'y' } as never }, ['any', 'object a not 1']],
])('%s', (_, request, expected) => {
  expect(candidates(request)).toEqual(expected);
});
