import { test } from 'vitest';
import { decode } from '../../../schema/decode.ts';
import { normalize } from '../../../schema/normalize.ts';
import { clone } from '../../../schema/clone.ts';
import { FieldErrors } from '../../../util/field-errors.ts';
import { pods } from './pod.ts';
const strings = ['', 'a', 'A!', '../x', '/abs', '-1', 'é', 'a.b', 'x'.repeat(300), '1Gi', '-5', '0.0000001', '10.0.0.1', '::1', 'hugepages-2Mi', 'hugepages-x', 'Always', 'Never', 'None', 'Localhost', 'windows', 'linux', 'In', 'Exists', 'cpu', 'memory', 'metadata.labels[\'a\']', '__proto__', 'constructor', 'iqn.2020-01.a:b', '1e3', 'Managed', 'a/b', 'a/b/c', '$(A)', '\u0000', 'localhost/x'];
let seed = 42; const rnd = () => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) / 0x7fffffff;
const pick = (l: any[]) => l[Math.floor(rnd() * l.length)];
function gen(t: any, depth: number): any {
  switch (t.type) {
    case 'object': { const o: any = {}; const fields = [...(Array.isArray(t.fields) ? t.fields : t.fields.values())]; for (const f of fields) if (rnd() < (depth < 2 ? 0.5 : depth < 4 ? 0.3 : 0.25) && depth < 9) o[f.name] = gen(f.type, depth + 1); return o; }
    case 'list': case 'array': return Array.from({ length: Math.floor(rnd() * 3) }, () => gen(t.items ?? t.item ?? t.element, depth + 1));
    case 'map': { const o: any = {}; for (let i = 0; i < Math.floor(rnd() * 3); i++) o[pick(strings)] = gen(t.values ?? t.value ?? t.items, depth + 1); return o; }
    case 'boolean': return rnd() < 0.5;
    case 'int32': case 'double': return pick([0, 1, -1, 80, 70000, 2147483647, 420]);
    case 'int64': return pick([0, 1, -1, 30, 5000000000, 9223372036854775807n]);
    case 'quantity': return pick(['0', '1', '-1', '100m', '1n', '5Mi', '4Mi', '1e-7', '9223372036854775807', '1e30', '0.5']);
    case 'time': case 'microTime': return pick([null, '2020-01-01T00:00:00Z', '0001-01-01T00:00:00Z']);
    case 'duration': return '1s';
    case 'intOrString': return pick([0, 80, 'http', '', -1]);
    case 'bytes': return 'AAAA';
    case 'any': return {};
    default: return pick(strings);
  }
}
test('fuzz', () => {
  const schema: any = (pods as any).schema; let ok = 0, bad = 0, throws: string[] = [], valid = 0, slow = 0;
  for (let i = 0; i < 30000; i++) {
    const body = gen(schema, 0); body.metadata = { name: 'x', namespace: 'y', ...(rnd() < 0.3 && { annotations: { 'container.apparmor.security.beta.kubernetes.io/a': 'localhost/x', 'scheduler.alpha.kubernetes.io/tolerations': pick(['x', '[]', '[{"key":1}]', '[1]', '[null]', '{}']) } }) };
    let o: any;
    try { o = decode(schema, body, undefined); } catch { bad++; continue; }
    const t = performance.now();
    try {
      (pods as any).served[0].default(o);
      const stOld = normalize(schema, clone(o));
      (pods as any).prepareForCreate(o, { warn() {} });
      o = normalize(schema, o);
      const e = new FieldErrors(); pods.validate!(o, e); if (e.isEmpty) valid++;
      pods.warnings!(o, undefined);
      for (const c of pods.columns!) c.cell(stOld as any, new Date());
      for (const s of ['', 'status', 'resize', 'ephemeralcontainers']) {
        const n: any = clone(stOld); n.spec.hostname = 'zz'; if (rnd() < 0.5) delete n.spec.volumes; if (rnd() < 0.3) n.status = {};
        const r: any = s === '' ? pods : pods.subresources![s]!.update;
        r.prepareForUpdate(n, stOld, { warn() {} });
        const x = normalize(schema, n); r.validateUpdate(x, stOld, new FieldErrors());
      }
      ok++;
    } catch (error) { throws.push((error as Error).stack!.split('\n').slice(0, 4).join('\n')); }
    if (performance.now() - t > 50) slow++;
  }
  console.log(ok, 'ok', bad, 'undecodable', valid, 'valid', slow, 'slow', throws.length, 'throws\n', [...new Set(throws)].slice(0, 12).join('\n\n'));
}, 120000);
