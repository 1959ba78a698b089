import { clone } from '../schema/clone.ts';
import { assemble, planOf as decodePlanOf } from '../schema/decode-plan.ts';
import { decode } from '../schema/decode.ts';
import { normalize } from '../schema/normalize.ts';
import type { Managers } from '../schema/ownership/managers.ts';
import type { Versioned, Versions } from '../schema/ownership/updater.ts';
import { typePlanOf } from '../schema/ownership/type-plan.ts';
import type { ObjectSchema } from '../schema/schema.ts';
import { type ApiObject, apiVersionOf } from '../util/api-object.ts';
import type { JsonObject } from '../util/json-types.ts';
import type { ResourceDefinition, ServedVersion, Subresource } from './definition.ts';
import { ownableFields } from './reset-fields.ts';

/** What ownership must know of one way of writing a resource: the object itself, or a subresource of it. */
export class WayOfWriting implements Versions {
  readonly ownable: Versions['ownable'];
  readonly subresource: string;
  readonly #served: ReadonlyMap<string, ServedVersion>;

  constructor(definition: ResourceDefinition, subresource: string) {
    this.subresource = subresource;
    this.#served = new Map(servedThrough(definition, subresource).map((served) => [apiVersionOf(served.group, served.version), served]));
    this.ownable = ownableFields(definition, subresource);
  }

  planOf(apiVersion: string): ReturnType<Versions['planOf']> {
    const served = this.#served.get(apiVersion);
    return served && typePlanOf(served.schema);
  }

  /** Whether every owner's fields are told in a version that there is. */
  knowsAll(managers: Managers): boolean {
    for (const { apiVersion } of managers.values()) if (!this.#served.has(apiVersion)) return false;
    return true;
  }

  /** Through the stored version, as clients would see it. */
  convert({ apiVersion, value }: Versioned, target: string): Versioned {
    const from = this.#served.get(apiVersion)!;
    const decoded = decode(from.schema, value) as unknown as ApiObject;
    return this.fromStored(from.toStored?.(decoded) ?? decoded, target);
  }

  /** A stored object in one of the versions. Never changed, nor kept. */
  fromStored(stored: ApiObject, apiVersion: string): Versioned {
    const served = this.#served.get(apiVersion)!;
    const object = (served.fromStored ? normalize(served.schema, served.fromStored(clone(stored)) as unknown as JsonObject) : stored) as unknown as JsonObject;
    return { apiVersion, plan: typePlanOf(served.schema), value: withoutManagedFields(object) };
  }

  /** What there is before there is an object. */
  nothing(apiVersion: string): Versioned {
    const { schema } = this.#served.get(apiVersion)!;
    return { apiVersion, plan: typePlanOf(schema), value: zeroObject(schema) };
  }

  /** The version that the client speaks; that of storage where it is not told. */
  versionOf(apiVersion: string | undefined): string {
    return apiVersion !== undefined && this.#served.has(apiVersion) ? apiVersion : this.#served.keys().next().value!;
  }
}

/** A subresource of another kind (a scale) has that kind's version only; its objects are given as they are read. */
function servedThrough(definition: ResourceDefinition, name: string): readonly ServedVersion[] {
  const subresource = definition.subresources?.[name];
  return subresource !== undefined && isOfOtherKind(definition, subresource) ? [subresource] : definition.served;
}

export const isOfOtherKind = ({ kind }: ResourceDefinition, subresource: Subresource): boolean => subresource.kind !== kind;

/** Who owns what is not itself owned. */
function withoutManagedFields(object: JsonObject): JsonObject {
  const metadata = object['metadata'] as JsonObject | undefined;
  return metadata?.['managedFields'] === undefined ? object : { ...object, metadata: { ...metadata, managedFields: undefined } };
}

const zeros = new WeakMap<ObjectSchema, JsonObject>();

/** As Go's zero value of the type is encoded. */
function zeroObject(schema: ObjectSchema): JsonObject {
  let zero = zeros.get(schema);
  if (zero === undefined) zeros.set(schema, (zero = assemble(decodePlanOf(schema))));
  return zero;
}

const ways = new WeakMap<ResourceDefinition, Map<string, WayOfWriting>>();

export function wayOfWriting(definition: ResourceDefinition, subresource: string): WayOfWriting {
  let known = ways.get(definition);
  if (known === undefined) ways.set(definition, (known = new Map()));
  let way = known.get(subresource);
  if (way === undefined) known.set(subresource, (way = new WayOfWriting(definition, subresource)));
  return way;
}
