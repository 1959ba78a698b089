import type { OtherVersion } from './define.ts';
import { apiVersionOf } from '../util/api-object.ts';

/** A version whose fields are those of the stored one: only its name differs. `deprecation` as `ServedVersion` has it. */
export function sameInVersion(group: string, stored: string, version: string, deprecation?: string): OtherVersion {
  const renamed = (apiVersion: string) => <T extends { apiVersion: string }>(object: T): T => {
    object.apiVersion = apiVersion;
    return object;
  };
  return { group, version, toStored: renamed(apiVersionOf(group, stored)), fromStored: renamed(apiVersionOf(group, version)), ...(deprecation !== undefined && { deprecation }) };
}
