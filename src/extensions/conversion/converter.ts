import { type ApiObject, apiVersionOf } from '../../api/api-object.ts';
import { unknownError } from '../../api/errors.ts';

/** Converts objects between the versions of a custom resource. */
export interface Converter {
  /** In the order given. Never changes its argument; what is of that version is answered as it is. Throws an ApiError where it cannot be done. */
  convert(objects: readonly ApiObject[], apiVersion: string): ApiObject[] | Promise<ApiObject[]>;
  close(): void;
}

/** Conversion `None`: only the name of the version changes (…/apiserver/conversion/nop_converter.go). */
export const NO_CONVERSION: Converter = {
  convert: (objects, apiVersion) => objects.map((object) => (object.apiVersion === apiVersion ? object : { ...object, apiVersion })),
  close() {},
};

/** Refuses versions that the definition does not have before anybody is asked (…/apiserver/conversion/converter.go ConvertToVersion). */
export function betweenVersions(group: string, versions: readonly string[], converter: Converter): Converter {
  const known = new Set(versions.map((version) => apiVersionOf(group, version)));
  return {
    convert(objects, apiVersion) {
      if (!known.has(apiVersion)) throw unknownError(`request to convert CR to an invalid group/version: ${apiVersion}`);
      for (const object of objects)
        if (!known.has(object.apiVersion)) throw unknownError(`request to convert CR from an invalid group/version: ${object.apiVersion}`);
      return converter.convert(objects, apiVersion);
    },
    close: () => converter.close(),
  };
}
