import type { ApiObject, GroupVersionKind } from '../api/api-object.ts';
import type { EmptyPaths } from '../schema/empty-paths.ts';
import type { FieldError } from '../api/field-errors.ts';
import type { User } from '../api/user.ts';
import type { ResourceDefinition } from './definition.ts';
import type { RequestContext } from './request-context.ts';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** What admission is told of a write. `object` may be changed in place by the mutating step, and by nothing else. */
export interface AdmissionAttributes {
  operation: AdmissionOperation;
  group: string;
  version: string;
  resource: string;
  subresource: string;
  kind: GroupVersionKind;
  namespace: string;
  name: string;
  /** The object as it is to be stored, in the storage version; undefined for DELETE. */
  object: ApiObject | undefined;
  /** Of `object`, as `SentObject` has them: who replaces its content replaces them. */
  sentEmpty: EmptyPaths;
  through?: ApiObject | undefined;
  /** As stored; never to be changed. Undefined for CREATE. */
  oldObject: ApiObject | undefined;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions as the client gave them. */
  options: object;
  dryRun: boolean;
  user: User;
  context: RequestContext;
  /** What the resource is, for those who show objects to others in a version of their choice. Absent: nothing is known but the names above. */
  definition?: ResourceDefinition;
  /** The group-version that the client speaks; that of storage where absent. */
  apiVersion?: string | undefined;
  /** Set to `requested` by a mutating plug-in that changed what others have seen: all of them are asked once more, and find `running` here. */
  reinvocation?: 'requested' | 'running' | undefined;
}

/** The port through which a write passes admission; `src/admission/` implements it. Throws ApiError to refuse. */
export interface AdmissionController {
  /** May change `attributes.object`. Runs before validation. */
  mutate(attributes: AdmissionAttributes): Promise<void> | void;
  /** Sees the object as it will be stored. */
  validate(attributes: AdmissionAttributes): Promise<void> | void;
  /** Fields that the user may not set so, of kinds that ask (`asksForRights`). They are reported with what validation finds, and before it. */
  rights?(attributes: AdmissionAttributes): Promise<readonly FieldError[]>;
}
