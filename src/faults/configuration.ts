import { readFileSync } from 'node:fs';
import { isJsonObject } from '../encoding/json.ts';
import { parseYaml } from '../encoding/yaml.ts';
import { type InjectedFault, FaultInjector } from './injector.ts';
import { type FaultRule, faultRuleError } from './rule.ts';

/** Makes the rules of `--fault-config-file`: YAML or JSON with a list `rules`. Throws an Error of one line that says what is wrong with the file. */
export function readFaults(file: string, onInjected: (fault: InjectedFault) => void): FaultInjector {
  const content = parseYaml(readFileSync(file, 'utf8'));
  const rules = isJsonObject(content) ? content['rules'] : undefined;
  if (!isJsonObject(content) || !Array.isArray(rules) || Object.keys(content).length !== 1)
    throw new Error(`${file}: it must have a list "rules", and nothing else`);
  const faults = new FaultInjector(onInjected);
  for (const [index, rule] of rules.entries()) {
    const error = faultRuleError(rule);
    if (error !== undefined) throw new Error(`${file}: rules[${index}]: ${error}`);
    faults.add(rule as FaultRule);
  }
  return faults;
}
