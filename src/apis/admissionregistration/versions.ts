import type { ApiObject } from '../../api/api-object.ts';
import type { OtherVersion } from '../define.ts';
import { sameInVersion } from '../same-in-version.ts';

const GROUP = 'admissionregistration.k8s.io';

/** Versions of mutating policies that --runtime-config can turn on beside v1, with v1's fields. `alphaFill`: what v1alpha1 fills in beyond. */
export function earlierVersions<T extends ApiObject>(kind: string, fill: (object: T) => void, alphaFill?: (object: T) => void): OtherVersion[] {
  const alphaDeprecation = `${GROUP}/v1alpha1 ${kind} is deprecated in v1.35+, unavailable in v1.38+`;
  return [
    { ...sameInVersion(GROUP, 'v1', 'v1beta1'), default: (object) => fill(object as T) },
    {
      ...sameInVersion(GROUP, 'v1', 'v1alpha1', alphaDeprecation),
      default(object) {
        fill(object as T);
        alphaFill?.(object as T);
      },
    },
  ];
}
