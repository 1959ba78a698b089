import { Random } from '../../src/util/test-random.ts';
import type { Scenario } from '../step.ts';
import { addAccess } from './access.ts';
import { addPolicies, addWebhooks } from './admission.ts';
import { addApplies, addDeletes, addPatches, addReads, addWrites } from './built-in.ts';
import { addConverted, addCustom, addDefinitions } from './custom.ts';
import { addDefinitionUpdates } from './definition-updates.ts';
import { Draft } from './draft.ts';
import { addLimits } from './limits.ts';
import { addDocuments, addPaths } from './paths.ts';

/** What is generated, with how often. */
const AREAS: readonly (readonly [area: string, weight: number, add: (draft: Draft) => void])[] = [
  ['write', 30, addWrites],
  ['apply', 14, addApplies],
  ['patch', 14, addPatches],
  ['read', 12, addReads],
  ['delete', 6, addDeletes],
  ['custom', 10, addCustom],
  ['definition', 5, (draft) => (draft.random.chance(0.5) ? addDefinitions(draft) : addDefinitionUpdates(draft))],
  ['conversion', 6, addConverted],
  ['webhook', 5, addWebhooks],
  ['policy', 3, addPolicies],
  ['access', 5, addAccess],
  ['path', 6, addPaths],
  ['limit', 4, addLimits],
  ['document', 0.5, addDocuments],
];

/** The scenario of that number: always the same for the same seed and choice of areas. */
export function generateScenario(seed: number, index: number, only: RegExp): Scenario {
  const areas = AREAS.filter(([area]) => only.test(area));
  if (areas.length === 0) throw new Error(`no area matches ${only}: there are ${AREAS.map(([area]) => area).join(', ')}`);
  const random = new Random(Math.imul(seed + 1, 0x9e3779b1) + Math.imul(index + 1, 0x85ebca6b));
  const draft = new Draft(random);
  let at = random.next() * areas.reduce((sum, [, weight]) => sum + weight, 0);
  const [area, , add] = areas.find(([, weight]) => (at -= weight) < 0) ?? areas[0]!;
  add(draft);
  return { area, seed, index, steps: draft.steps };
}
