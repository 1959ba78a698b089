import { isJsonObject } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';

/**
 * An empty list of managedFields asks to forget all owners, whereas none at all leaves them as they are. Decoding makes no difference between the two:
 * this keeps it. Answers the decoded object.
 */
export function keepManagedFieldsReset(sent: Json, decoded: JsonObject): JsonObject {
  const metadata = isJsonObject(sent) ? sent['metadata'] : undefined;
  const managedFields = isJsonObject(metadata) ? metadata['managedFields'] : undefined;
  const before = decoded['metadata'];
  if (!Array.isArray(managedFields) || managedFields.length > 0 || before === undefined || !isJsonObject(before)) return decoded;
  return { ...decoded, metadata: { ...before, managedFields: [] } };
}
