import { parseFieldSelector } from '../../src/api/field-selector.ts';
import { SelectorSyntaxError, parseLabelSelector } from '../../src/api/label-selector.ts';
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
