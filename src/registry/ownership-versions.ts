import { clone } from '../schema/clone.ts';
import { assemble, planOf as decodePlanOf } from '../schema/decode-plan.ts';
import { decode } from '../schema/decode.ts';
import { normalize } from '../schema/normalize.ts';
import type { Managers } from '../schema/ownership/managers.ts';
import type { Versioned, Versions } from '../schema/ownership/updater.ts';
import { typePlanOf } from '../schema/ownership/type-plan.ts';
import { TypeMismatch, validateApplied } from '../schema/ownership/validate.ts';
import type { ObjectSchema } from '../schema/schema.ts';
import { type ApiObject, apiVersionOf } from '../api/api-object.ts';
import { isApiError } from '../api/errors.ts';
import { stringifyJson } from '../encoding/json.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { Answers } from '../util/pending.ts';
import type { ResourceDefinition, ServedVersion, Subresource } from './definition.ts';
import { ownableFields } from './reset-fields.ts';

/** Objects whose owners speak several versions cannot be compared in all of them; the message says why. */
export class UnknownInVersion extends Error {}

/** What ownership must know of one way of writing a resource: the object itself, or a subresource of it. */
export class WayOfWriting implements Versions {
  readonly ownable: Versions['ownable'];
  readonly subresource: string;
  protected readonly served: ReadonlyMap<string, ServedVersion>;

  constructor(definition: ResourceDefinition, subresource: string) {
    this.subresource = subresource;
    this.served = new Map(servedThrough(definition, subresource).map((served) => [apiVersionOf(served.group, served.version), served]));
    this.ownable = ownableFields(definition, subresource);
  }

  planOf(apiVersion: string): ReturnType<Versions['planOf']> {
    const served = this.served.get(apiVersion);
    return served && typePlanOf(served.schema);
  }

  /** Throws UnknownInVersion where an owner's fields are told in a version that there is not: upstream can convert no custom object to such a one. */
  demandKnown(managers: Managers): void {
    for (const { apiVersion } of managers.values()) {
      if (!this.served.has(apiVersion)) throw new UnknownInVersion(`request to convert CR to an invalid group/version: ${apiVersion}`);
    }
  }

  /** Through the stored version, as clients would see it. */
  convert({ apiVersion, value }: Versioned, target: string, _failure?: string): Versioned {
    const from = this.served.get(apiVersion)!;
    const decoded = decode(from.schema, value) as unknown as ApiObject;
    return this.fromStored(from.toStored?.(decoded) ?? decoded, target);
  }

  /** A stored object in one of the versions. Never changed, nor kept. */
  fromStored(stored: ApiObject, apiVersion: string): Versioned {
    const served = this.served.get(apiVersion)!;
    const object = (served.fromStored ? normalize(served.schema, served.fromStored(clone(stored)) as unknown as JsonObject) : stored) as unknown as JsonObject;
    return { apiVersion, plan: typePlanOf(served.schema), value: withoutManagedFields(object) };
  }

  /** What there is before there is an object. */
  nothing(apiVersion: string): Versioned {
    const { schema } = this.served.get(apiVersion)!;
    return { apiVersion, plan: typePlanOf(schema), value: zeroObject(schema) };
  }

  /** The version that the client speaks; that of storage where it is not told. */
  versionOf(apiVersion: string | undefined): string {
    return apiVersion !== undefined && this.served.has(apiVersion) ? apiVersion : this.served.keys().next().value!;
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

/** The same for one write of a resource whose versions are converted by something that may take time: `settled` runs what throws Pending again. */
class ConvertedWay extends WayOfWriting {
  readonly demandsEveryVersion = true;
  readonly #convert: NonNullable<ResourceDefinition['convert']>;
  readonly #answers = new Answers<Versioned>();

  constructor(definition: ResourceDefinition, subresource: string) {
    super(definition, subresource);
    this.#convert = definition.convert!.bind(definition);
  }

  /** Throws UnknownInVersion where it cannot be done, or what comes of it is none of that version (managedfields/internal/versionconverter.go). */
  override convert({ apiVersion, value }: Versioned, target: string, failure: string): Versioned {
    const { schema } = this.served.get(target)!;
    const converted = (object: ApiObject): Versioned => this.#typed(object as unknown as JsonObject, schema, target);
    try {
      if (isNothing(value)) return { ...this.nothing(target), value: { ...value, apiVersion: target } };
      return this.#answers.get(`${apiVersion} ${target} ${stringifyJson(value)}`, () => {
        const object = this.#convert(value as unknown as ApiObject, target);
        return object instanceof Promise ? object.then(converted) : converted(object);
      });
    } catch (error) {
      throw isApiError(error) || error instanceof TypeMismatch ? new UnknownInVersion(failure === '' ? error.message : `${failure}: ${error.message}`) : error;
    }
  }

  #typed(object: JsonObject, schema: ObjectSchema, apiVersion: string): Versioned {
    const plan = typePlanOf(schema);
    const value = withoutManagedFields(object);
    validateApplied(plan, value);
    return { apiVersion, plan, value };
  }
}

/** Upstream's empty object: it has a type and nothing else. */
const isNothing = (value: JsonObject): boolean =>
  Object.entries(value).every(([name, content]) => name === 'kind' || name === 'apiVersion' || (name === 'metadata' && isEmptyMetadata(content)));

const isEmptyMetadata = (metadata: unknown): boolean => Object.values(metadata ?? {}).every((content) => content === undefined || content === null);

const ways = new WeakMap<ResourceDefinition, Map<string, WayOfWriting>>();

/** To be used for one write. */
export function wayOfWriting(definition: ResourceDefinition, subresource: string): WayOfWriting {
  const part = definition.subresources?.[subresource];
  const isConverted = definition.convert !== undefined && !(part !== undefined && isOfOtherKind(definition, part));
  return isConverted ? new ConvertedWay(definition, subresource) : sharedWay(definition, subresource);
}

/** The same where no versions are compared: what is remembered of it is of use for later writes. */
export function sharedWay(definition: ResourceDefinition, subresource: string): WayOfWriting {
  let known = ways.get(definition);
  if (known === undefined) ways.set(definition, (known = new Map()));
  let way = known.get(subresource);
  if (way === undefined) known.set(subresource, (way = new WayOfWriting(definition, subresource)));
  return way;
}
