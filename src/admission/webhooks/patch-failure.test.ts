import { expect, test } from 'vitest';
import type { JsonPatchOperation } from '../../schema/json-patch.ts';
import { patchFailure } from './patch-failure.ts';

const DOCUMENT = { data: { key: 'value' }, list: [1, 2] };

/* The expectations are what kube-apiserver v1.36.4 says, or its library has for the case. */
test.each<[JsonPatchOperation, string]>([
  [{ op: 'remove', path: '/none/x' }, 'remove operation does not apply: doc is missing path: "/none/x": missing value'],
  [{ op: 'remove', path: '/data/none' }, "error in remove for path: '/data/none': Unable to remove nonexistent key: none: missing value"],
  [{ op: 'test', path: '/data/key', value: 'x' }, 'testing value /data/key failed: test failed'],
  [{ op: 'test', path: '/none/x', value: 'x' }, 'test operation does not apply: is missing path: /none/x: missing value'],
  [{ op: 'add', path: '/data/key/x', value: 'x' }, 'add operation does not apply: doc is missing path: "/data/key/x": missing value'],
  [{ op: 'add', path: '/list/5', value: 'x' }, "error in add for path: '/list/5': Unable to access invalid index: 5: invalid index referenced"],
  [
    { op: 'add', path: '/list/x', value: 'x' },
    `error in add for path: '/list/x': value was not a proper array index: 'x': strconv.Atoi: parsing "x": invalid syntax`,
  ],
  [{ op: 'remove', path: '/list/2' }, "error in remove for path: '/list/2': Unable to access invalid index: 2: invalid index referenced"],
  [{ op: 'replace', path: '/list/7', value: 1 }, 'replace operation does not apply: doc is missing key: /list/7: missing value'],
  [{ op: 'replace', path: '/none/x', value: 1 }, 'replace operation does not apply: doc is missing path: /none/x: missing value'],
  [{ op: 'move', from: '/data/none', path: '/data/x' }, "error in move for path: 'none': Unable to remove nonexistent key: none: missing value"],
  [{ op: 'move', path: '/data/x' }, 'move operation failed to decode from: operation, missing from field: missing value'],
  [{ op: 'copy', from: '/none/x', path: '/data/x' }, 'copy operation does not apply: doc is missing from path: /none/x: missing value'],
  [{ op: 'copy', from: '/data/key', path: '/none/x' }, 'copy operation does not apply: doc is missing destination path: /none/x: missing value'],
  [{ op: 'frob', path: '/data/x' }, 'Unexpected kind: frob'],
  [{ op: 'add', value: 'x' }, 'add operation failed to decode path: missing value'],
])('%j', (operation, message) => {
  expect(patchFailure(DOCUMENT, [{ op: 'add', path: '/data/ok', value: 1 }, operation])).toBe(message);
});
