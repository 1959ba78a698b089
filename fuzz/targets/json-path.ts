import { compileJsonPath, printFound } from '../../src/extensions/json-path.ts';
import { type FuzzTarget } from '../target.ts';
import { pod } from './objects.ts';

const OBJECT = pod();

export const jsonPath: FuzzTarget = {
  name: 'json-path',
  seeds: () => [
    '.spec.containers[*].name',
    '$.spec.containers[?(@.name=="a")].ports[0].containerPort',
    '..name',
    ".metadata.labels['app']",
    '.spec.containers[0:2:1]',
    '.status.conditions[-1].type',
    '.spec.containers[?(@.ports[?(@.containerPort>1)])].name',
    '.metadata.labels.a\\.b',
  ],
  tokens: ['.', '..', '[*]', '[', ']', '[?(@', ')]', '@', '==', '<', "['", "']", '"', '0', ':', '-1', '.*', 'name', '\\', '$', '(', ')'],
  refusals: [],
  run(input) {
    const path = compileJsonPath(input.toString());
    if (path) printFound(path(OBJECT));
  },
};
