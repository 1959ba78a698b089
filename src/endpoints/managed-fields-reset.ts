import type { ObjectSchema } from '../schema/schema.ts';
import { isJsonObject } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';

/**
 * An empty list of managedFields asks to forget all owners, whereas none at all leaves them as they are. Decoding makes no difference between the two:
 * this keeps it, but of custom objects, whose metadata upstream writes out and reads once more before anybody looks (…/schema/objectmeta). Answers the
 * decoded object.
 */
export function keepManagedFieldsReset(schema: ObjectSchema, sent: Json, decoded: JsonObject): JsonObject {
  if (schema.custom !== undefined) return decoded;
  const metadata = isJsonObject(sent) ? sent['metadata'] : undefined;
  const managedFields = isJsonObject(metadata) ? metadata['managedFields'] : undefined;
  const before = decoded['metadata'];
  if (!Array.isArray(managedFields) || managedFields.length > 0 || before === undefined || !isJsonObject(before)) return decoded;
  return { ...decoded, metadata: { ...before, managedFields: [] } };
}
