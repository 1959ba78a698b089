import type { Admission, AdmissionAttributes, AdmissionOperation } from '../registry/admission.ts';
import type { AdmissionPlugin } from './plugin.ts';

type Step = 'mutate' | 'validate';

/**
 * The plug-ins in order: every mutation before the first validation. What each operation meets is worked out once, in `use`, which is called before the
 * first request: plug-ins read stores, and stores are made with the chain that their writes pass.
 */
export class AdmissionChain implements Admission {
  #steps: Record<Step, Map<AdmissionOperation, AdmissionPlugin[]>> = { mutate: new Map(), validate: new Map() };

  use(plugins: readonly AdmissionPlugin[]): void {
    this.#steps = { mutate: byOperation(plugins, 'mutate'), validate: byOperation(plugins, 'validate') };
  }

  mutate(attributes: AdmissionAttributes): Promise<void> | void {
    return run(this.#steps.mutate.get(attributes.operation) ?? [], 'mutate', attributes, 0);
  }
  validate(attributes: AdmissionAttributes): Promise<void> | void {
    return run(this.#steps.validate.get(attributes.operation) ?? [], 'validate', attributes, 0);
  }
}

const byOperation = (plugins: readonly AdmissionPlugin[], step: Step): Map<AdmissionOperation, AdmissionPlugin[]> =>
  new Map((['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const).map((operation) => [operation, plugins.filter((plugin) => plugin[step] && plugin.operations.has(operation))]));

/** Synchronous for as long as the plug-ins are: most writes meet none that waits. */
function run(plugins: readonly AdmissionPlugin[], step: Step, attributes: AdmissionAttributes, from: number): Promise<void> | void {
  for (let i = from; i < plugins.length; i++) {
    const waiting = plugins[i]![step]!(attributes);
    if (waiting) return waiting.then(() => run(plugins, step, attributes, i + 1));
  }
}
