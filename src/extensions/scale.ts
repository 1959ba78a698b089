import type { CustomResourceColumnDefinition, CustomResourceSubresourceScale } from '../apis/facts/types/apiextensions-v1.ts';
import type { Column, Subresource, UpdateRules } from '../registry/definition.ts';
import type { ObjectSchema } from '../schema/schema.ts';
import type { ApiObject } from '../api/api-object.ts';
import { badRequest, internalError } from '../api/errors.ts';
import type { FieldErrors } from '../api/field-errors.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { customColumns } from './columns.ts';
import { AccessError, nestedInteger, nestedText, setNested, splitPath } from './nested.ts';

type Paths = CustomResourceSubresourceScale;

interface Scale extends ApiObject {
  spec?: { replicas?: number };
}

const MAX_REPLICAS = 2 ** 31 - 1;
/** What a patch finds where the object has none: a change must put another number in its place. */
const NO_REPLICAS = -(2 ** 31);

/** Of the Scale. */
const COLUMNS: readonly CustomResourceColumnDefinition[] = [
  { name: 'Desired', type: 'integer', description: 'Number of desired replicas', jsonPath: '.spec.replicas' },
  { name: 'Available', type: 'integer', description: 'Number of actual replicas', jsonPath: '.status.replicas' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
];

/** `/scale`: an autoscaling/v1 Scale made of what stands at the definition's paths (…/registry/customresource/etcd.go ScaleREST). */
export function customScaleSubresource(paths: Paths, schema: () => ObjectSchema, update: UpdateRules): Subresource {
  const read = (object: ApiObject): ApiObject =>
    readScale(object, paths, () => {
      throw internalError(`the spec replicas field "${paths.specReplicasPath}" does not exist`);
    });
  return {
    group: 'autoscaling',
    version: 'v1',
    kind: 'Scale',
    get schema() {
      return schema();
    },
    verbs: ['get', 'patch', 'update'],
    replicasPath: splitPath(paths.specReplicasPath),
    update,
    columns: customColumns(COLUMNS).map((column) => columnOf(read, column)),
    read,
    readToWrite: (object) => readScale(object, paths, () => NO_REPLICAS),
    // A conversion may have lost what was written.
    readWritten: (object) => readScale(object, paths, () => 0),
    write(object, sent) {
      const { spec, metadata } = sent as Scale;
      if (spec?.replicas === NO_REPLICAS) throw badRequest(`the spec replicas field "${paths.specReplicasPath}" cannot be empty`);
      setNested(object as unknown as JsonObject, paths.specReplicasPath, spec?.replicas ?? 0);
      // The object that has the replicas may be new: its other fields have their defaults when it is read (`toBeStored`).
      if (metadata.resourceVersion) object.metadata.resourceVersion = metadata.resourceVersion;
      return object;
    },
  };
}

/** Cells are made from the stored object; these are from the Scale that is read from it. */
const columnOf = (read: (object: ApiObject) => ApiObject, column: Column): Column => ({ ...column, cell: (object, now) => column.cell(read(object), now) });

function readScale(object: ApiObject, { specReplicasPath, statusReplicasPath, labelSelectorPath }: Paths, withoutReplicas: () => number): ApiObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const fields = object as unknown as JsonObject;
  try {
    const replicas = nestedInteger(fields, specReplicasPath) ?? withoutReplicas();
    const status = {
      replicas: nestedInteger(fields, statusReplicasPath) ?? 0,
      ...(labelSelectorPath && { selector: nestedText(fields, labelSelectorPath) ?? '' }),
    };
    return {
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
      // Left out where there are none, as the type has it.
      spec: replicas === 0 ? {} : { replicas },
      status,
    } as unknown as ApiObject;
  } catch (error) {
    throw error instanceof AccessError ? badRequest(error.message) : error;
  }
}

/** What stands at the paths of a scale must be such that a scale can be made of it. */
export function validateScale(
  { specReplicasPath, statusReplicasPath, labelSelectorPath }: Paths,
  object: JsonObject,
  parts: { spec: boolean },
  errors: FieldErrors,
): void {
  if (parts.spec) validateReplicas(object, specReplicasPath, errors);
  validateReplicas(object, statusReplicasPath, errors);
  if (labelSelectorPath) validated(errors.at(labelSelectorPath), '', () => nestedText(object, labelSelectorPath));
}

function validateReplicas(object: JsonObject, path: string, errors: FieldErrors): void {
  const at = errors.at(path);
  const replicas = validated(at, 0, () => nestedInteger(object, path)) ?? 0;
  if (replicas < 0) at.invalid(replicas, 'should be a non-negative integer');
  else if (replicas > MAX_REPLICAS) at.invalid(replicas, `should be less than or equal to ${MAX_REPLICAS}`);
}

function validated<T>(errors: FieldErrors, shown: unknown, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof AccessError)) throw error;
    errors.invalid(shown, error.message);
    return undefined;
  }
}
