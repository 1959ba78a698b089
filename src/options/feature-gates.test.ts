import { describe, expect, test } from 'vitest';
import { parseFlags } from './flags/parser.ts';
import { resolveFeatureGates } from './feature-gates.ts';

const resolve = (flag: string) => resolveFeatureGates(parseFlags([`--feature-gates=${flag}`]).options.featureGates);

test('gates stand at their defaults', () => {
  const { gates, errors } = resolve('');
  expect(errors).toEqual([]);
  expect(gates.isEnabled('WatchList')).toBe(true);
  expect(gates.isEnabled('CBORServingAndStorage')).toBe(false);
  expect(() => gates.isEnabled('NoSuchGate')).toThrow('"NoSuchGate" is not registered');
});

test.each(['WatchList=false,CBORServingAndStorage=true', 'kube:WatchList=false,kube:CBORServingAndStorage=true'])('%s moves gates', (flag) => {
  const { gates, errors } = resolve(flag);
  expect(errors).toEqual([]);
  expect(gates.isEnabled('WatchList')).toBe(false);
  expect(gates.isEnabled('CBORServingAndStorage')).toBe(true);
});

test('a gate named by itself wins over AllAlpha', () => {
  const { gates } = resolve('CBORServingAndStorage=false,AllAlpha=true');
  expect(gates.isEnabled('HPAScaleToZero')).toBe(true);
  expect(gates.isEnabled('CBORServingAndStorage')).toBe(false);
});

describe('what is wrong, all at once', () => {
  test.each<[string, string[]]>([
    ['Foo=true,Bar=true', ['unrecognized feature gate: Foo', 'unrecognized feature gate: Bar']],
    ['SidecarContainers=false', ['cannot set feature gate SidecarContainers to false, feature is locked to true']],
    ['SidecarContainers=true', []],
    ['WatchList', ['missing bool value for WatchList']],
    ['WatchList=maybe', ['invalid value of WatchList=maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax']],
    ['other:WatchList=true', ['component not registered: other']],
    ['WatchList=true,kube:WatchList=true', ['set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use']],
    [
      'APIServerIdentity=false,UnknownVersionInteroperabilityProxy=true',
      ['UnknownVersionInteroperabilityProxy is enabled, but depends on features that are disabled: [APIServerIdentity]'],
    ],
  ])('%s', (flag, errors) => {
    expect(resolve(flag).errors).toEqual(errors);
  });
});
