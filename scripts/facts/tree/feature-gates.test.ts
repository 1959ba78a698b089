import { expect, test } from 'vitest';
import { featureGates } from './feature-gates.ts';
import { disagreements } from './gate-agreement.ts';
import { testTree } from './test-tree.ts';

const tree = testTree({
  'staging/src/k8s.io/client-go/features/known_features.go': [
    'package features',
    'const (',
    '\tCanSail Feature = "CanSail"',
    ')',
    'var gates = map[Feature]VersionedSpecs{',
    '\tCanSail: {',
    '\t\t{Version: version.MustParse("1.30"), Default: false, PreRelease: Alpha},',
    '\t},',
    '}',
  ].join('\n'),
  'pkg/features/kube_features.go': [
    'package features',
    'const (',
    '\tAnchor featuregate.Feature = "TheAnchor"',
    ')',
    'func gates() {',
    '\treturn map[featuregate.Feature]featuregate.VersionedSpecs{',
    '\t\tAnchor: {',
    '\t\t\t{Version: version.MustParse("1.9"), Default: true, PreRelease: featuregate.Beta},',
    '\t\t\t{Version: version.MustParse("1.36"), Default: false, PreRelease: featuregate.Deprecated, LockToDefault: true}, // gone in 1.38',
    '\t\t\t{Version: version.MustParse("1.37"), Default: true, PreRelease: featuregate.GA},',
    '\t\t},',
    '\t\tPeered: {',
    '\t\t\t{Version: version.MustParse("1.36"), Default: false, PreRelease: featuregate.Beta},',
    '\t\t\t{Version: version.MustParse("1.36"), Default: true, PreRelease: featuregate.Beta, MinCompatibilityVersion: version.MustParse("1.36")},',
    '\t\t},',
    '\t\tLater: {',
    '\t\t\t{Version: version.MustParse("1.37"), Default: false, PreRelease: featuregate.Alpha},',
    '\t\t},',
    '\t}',
    '}',
    'var defaultFeatureGateDependencies = map[featuregate.Feature][]featuregate.Feature{',
    '\tAnchor: {featuregate.Feature(clientfeatures.CanSail), Other},',
    '\tLater: {},',
    '}',
  ].join('\n'),
});

test('gates as they stand at a version', () => {
  expect(featureGates(tree, '1.36')).toEqual({
    AllAlpha: { stage: 'ALPHA', default: false },
    AllBeta: { stage: 'BETA', default: false },
    CanSail: { stage: 'ALPHA', default: false },
    Peered: { stage: 'BETA', default: false },
    TheAnchor: { stage: 'DEPRECATED', default: false, locked: true, needs: ['CanSail', 'Other'] },
  });
  expect(featureGates(tree, '1.37')).toMatchObject({
    Peered: { stage: 'BETA', default: true },
    TheAnchor: { stage: 'GA', default: true },
    Later: { stage: 'ALPHA', default: false },
  });
});

test('where a server tells otherwise', () => {
  const gates = featureGates(tree, '1.36');
  expect(disagreements(gates, { TheAnchor: { stage: 'DEPRECATED', default: false } }, 'the server')).toEqual([]);
  expect(disagreements(gates, { TheAnchor: { stage: 'GA', default: false }, Sail: { stage: 'GA', default: true } }, 'the server')).toEqual([
    'TheAnchor: the server says GA false, the tree DEPRECATED false',
    'Sail: the server knows it, the tree does not register it',
  ]);
});
