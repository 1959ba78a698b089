import type { AdmissionAttributes, AdmissionOperation } from '../registry/admission.ts';

/** One admission plug-in. Refuses by throwing ApiError; `mutate` may change `attributes.object` in place. */
export interface AdmissionPlugin {
  /** Upstream's name, as --enable-admission-plugins takes it. */
  readonly name: string;
  readonly operations: ReadonlySet<AdmissionOperation>;
  mutate?(attributes: AdmissionAttributes): Promise<void> | void;
  validate?(attributes: AdmissionAttributes): Promise<void> | void;
}
