import { Environment } from '../environment.ts';
import { AUTHORIZER_LIBRARY } from './authorizer.ts';
import { TWO_VARIABLE_LIBRARY } from './comprehensions.ts';
import { CIDR_LIBRARY, IP_LIBRARY } from './ip.ts';
import { KUBERNETES_LISTS_LIBRARY, LISTS_LIBRARY } from './lists.ts';
import { FORMAT_LIBRARY } from './named-formats.ts';
import { OPTIONAL_LIBRARY } from './optional.ts';
import { QUANTITY_LIBRARY } from './quantity.ts';
import { REGEX_LIBRARY } from './regex.ts';
import { SEMVER_LIBRARY } from './semver.ts';
import { SETS_LIBRARY } from './sets.ts';
import { STANDARD_LIBRARY } from './standard.ts';
import { STRINGS_LIBRARY } from './strings.ts';
import { URLS_LIBRARY } from './urls.ts';

const LIBRARIES = [
  STANDARD_LIBRARY,
  URLS_LIBRARY,
  REGEX_LIBRARY,
  KUBERNETES_LISTS_LIBRARY,
  AUTHORIZER_LIBRARY,
  OPTIONAL_LIBRARY,
  QUANTITY_LIBRARY,
  STRINGS_LIBRARY,
  SETS_LIBRARY,
  IP_LIBRARY,
  CIDR_LIBRARY,
  FORMAT_LIBRARY,
  TWO_VARIABLE_LIBRARY,
  SEMVER_LIBRARY,
];

/**
 * What all expressions in Kubernetes v1.36 have (apiserver/pkg/cel/environment/base.go): no variables and no types of resources, which those add who
 * know them. There is no `cel.bind`, `math` or `base64` in it. Mutating policies add JSON_PATCH_LIBRARY and MUTATION_TYPES.
 */
export const KUBERNETES_ENVIRONMENT = new Environment({ libraries: [...LIBRARIES, LISTS_LIBRARY] });

let formerEnvironment: Environment | undefined;

/** What new expressions have where a v1.33 is to read them still (--min-compatibility-version): the functions of lists came with v1.34. */
export const formerKubernetesEnvironment = (): Environment => (formerEnvironment ??= new Environment({ libraries: LIBRARIES }));
