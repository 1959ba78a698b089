import { apiVersionOf } from '../api/api-object.ts';
import type { OtherVersion } from './define.ts';

/** A version whose fields are those of the stored one: only its name differs. `deprecation` as `ServedVersion` has it. */
export const sameInVersion = (group: string, stored: string, version: string, deprecation?: string): OtherVersion => ({
  group,
  version,
  toStored: renamer(apiVersionOf(group, stored)),
  fromStored: renamer(apiVersionOf(group, version)),
  ...(deprecation !== undefined && { deprecation }),
});

const renamer =
  (apiVersion: string) =>
  <T extends { apiVersion: string }>(object: T): T => {
    object.apiVersion = apiVersion;
    return object;
  };
