import { parseFieldSelector } from '../../src/api/field-selector.ts';
import { SelectorSyntaxError, parseLabelSelector } from '../../src/api/label-selector.ts';
import { ShardSyntaxError, parseShardSelector } from '../../src/api/shard-selector.ts';
import { fnv1a } from '../../src/encoding/fnv.ts';
import { type FuzzTarget, mustAgree } from '../target.ts';

const LABELS = { app: 'web', tier: 'x', n: '5' };

/** A selector, written out and read again, says the same and selects the same. */
export const labelSelector: FuzzTarget = {
  name: 'label-selector',
  seeds: () => ['app=web,tier!=y', 'app in (web, api),!gone', 'tier notin (a,b),n>3,n<9', 'example.org/a==b, app', ''],
  tokens: ['in', 'notin', '(', ')', ',', '=', '==', '!=', '!', '>', '<', 'app', ' ', 'a.b/', '-', '5'],
  refusals: [SelectorSyntaxError],
  run(input) {
    const selector = parseLabelSelector(input.toString());
    const isSelected = selector.matches(LABELS);
    return () => {
      const written = selector.toString();
      const again = parseLabelSelector(written);
      mustAgree('written and read again', again.toString(), written);
      mustAgree(`what ${written} selects`, String(again.matches(LABELS)), String(isSelected));
    };
  },
};

export const fieldSelector: FuzzTarget = {
  name: 'field-selector',
  seeds: () => ['metadata.name=a,spec.nodeName!=b', 'status.phase==Running', 'a=b\\,c\\=d\\\\', ''],
  tokens: ['=', '==', '!=', ',', '\\,', '\\=', '\\\\', '\\', 'metadata.name', '.'],
  refusals: [SelectorSyntaxError],
  run(input) {
    const written = parseFieldSelector(input.toString()).toString();
    // Terms are sorted as they were written, before `==` becomes `=`: only the second reading is bound to keep the order.
    const again = parseFieldSelector(written).toString();
    return () => mustAgree('written and read again', parseFieldSelector(again).toString(), again);
  },
};

const range = (field: string, from: string, to: string): string => `shardRange(object.metadata.${field}, '${from}', '${to}')`;
const WHOLE = range('uid', '0x0000000000000000', '0x10000000000000000');
const UIDS = ['', 'a', '6b1f7f3e-0001-4000-8000-000000000000', '6b1f7f3e-0002-4000-8000-000000000000', '\u00e9'];

/** A shard selector, written out and read again, says the same; which objects it selects follows from the ranges in what it says. */
export const shardSelector: FuzzTarget = {
  name: 'shard-selector',
  seeds: () => [
    WHOLE,
    `(${range('uid', '0x0000000000000000', '0x8000000000000000')}) || ((${range('uid', '0x8000000000000000', '0x8000000000000001')}))`,
    range('namespace', '0x7fffffffffffffff', '0xffffffffffffffff'),
    `shardRange(object.metadata.uid,"0x0000000000000000","0x4000000000000000")`,
  ],
  tokens: ['shardRange(', ')', '(', ' || ', ',', "'", '"', '0x', 'object.metadata.uid', 'object.metadata.namespace', '.', '0000000000000000', 'f', WHOLE],
  refusals: [ShardSyntaxError],
  run(input) {
    const selector = parseShardSelector(input.toString());
    const selected = UIDS.map((uid) => selector.matches(objectOf(uid)));
    return () => {
      const written = selector.toString();
      mustAgree('written and read again', parseShardSelector(written).toString(), written);
      mustAgree(`what ${written} selects`, selected.join(), UIDS.map((uid) => isInRanges(written, uid)).join());
    };
  },
};

const objectOf = (text: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', uid: text, namespace: text } });

/** The same by whole numbers. */
function isInRanges(written: string, text: string): boolean {
  const { high, low } = fnv1a(Buffer.from(text));
  const hash = (BigInt(high) << 32n) | BigInt(low);
  const bounds = Array.from(written.matchAll(/'(0x[0-9a-f]+)', '(0x[0-9a-f]+)'/g), ([, from, to]) => [BigInt(from!), BigInt(to!)] as const);
  return bounds.some(([from, to]) => from <= hash && hash < to);
}
