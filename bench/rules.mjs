// What one evaluation of a rule of ordinary size costs, with all that stands around it when an object is validated.
import { machines, machine } from './custom.mjs';
import { fromSource } from './from-source.mjs';

const RULES = [
  '!has(self.minReplicas) || self.minReplicas <= self.replicas',
  "self.replicas <= self.maxReplicas && (self.mode != 'Disabled' || self.replicas == 0)",
  'self.endpoints.all(e, e.port > 0 && e.port < 65536)',
  "self.image.startsWith('registry.example.com/') && size(self.image) < 256",
  "has(self.labels) && self.labels.exists(key, key == 'zone')",
  'self.storage.sizeGiB >= oldSelf.storage.sizeGiB',
];
const WARM_UP = 20_000;
const EVALUATIONS = 100_000;

/** Microseconds an evaluation takes, by rule. */
export async function measureRules() {
  const { compileRuleTree, Structure, FieldErrors } = await fromSource('rule-parts');
  const { openAPIV3Schema } = JSON.parse(machines.body).spec.versions[0].schema;
  const { items, ...endpoints } = openAPIV3Schema.properties.spec.properties.endpoints;
  const { 'x-kubernetes-validations': _rules, ...item } = items;
  const spec = { ...openAPIV3Schema.properties.spec };
  spec.properties = { ...spec.properties, endpoints: { ...endpoints, items: item } };
  const object = { ...JSON.parse(machine.body) };
  object.spec = { ...object.spec, maxReplicas: 10, mode: 'Active' };
  return RULES.map((rule) => {
    const schema = { type: 'object', properties: { spec: { ...spec, 'x-kubernetes-validations': [{ rule }] } } };
    const rules = compileRuleTree(new Structure(schema));
    const errors = new FieldErrors();
    const evaluate = (count) => {
      for (let i = 0; i < count; i++) rules.validate(object, object, errors, () => {});
    };
    evaluate(WARM_UP);
    const beganUs = process.cpuUsage().user;
    evaluate(EVALUATIONS);
    if (errors.list.length > 0) throw new Error(`the rule fails: ${errors.list[0].body}`);
    return { rule, us: (process.cpuUsage().user - beganUs) / EVALUATIONS };
  });
}
