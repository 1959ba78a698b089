import type { KindSettings } from '../../registry/write.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { LIMITS } from '../../util/limits.ts';
import type {
  DeviceClaim,
  DeviceClaimConfiguration,
  DeviceConstraint,
  DeviceRequest,
  DeviceSelector,
  DeviceSubRequest,
  ExactDeviceRequest,
  ResourceClaimSpec,
} from '../facts/types/resource-v1.ts';
import { isFeatureOn } from '../features.ts';
import type { GatedFields } from '../gated-fields.ts';
import { type InternalFields, internalForm } from '../validation/internal-form.ts';
import { MAX_CONFIGS, validateConfiguration } from './configuration.ts';
import { validateUnique, validateList } from './lists.ts';
import { validateDomainQualifiedName, validateLabelLikeName, validateSubdomainLikeName } from './names.ts';
import { validateDeviceSelectors } from './selectors.ts';
import { defaultTolerations, validateDeviceTolerations } from './taints.ts';

/** What a claim asks for, in an object of its own or in a template (pkg/apis/resource/validation). */
const MAX_REQUESTS = 32;
const MAX_CONSTRAINTS = 32;
const MAX_ALTERNATIVES = 8;
const EXACT_COUNT = 'ExactCount';
const ALL = 'All';
const ONE_OF = 'exactly one of `exactly` or `firstAvailable` is required';
const UNKNOWN_REQUEST = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

const ofRequests = (field: string): string[] => [`devices.requests.*.exactly.${field}`, `devices.requests.*.firstAvailable.*.${field}`];

/** pkg/api/resourceclaimspec DropDisabledFields */
export const GATED_SPEC: GatedFields = [
  ['DRAPrioritizedList', ['devices.requests.*.firstAvailable']],
  ['DRADeviceTaints', ofRequests('tolerations')],
  ['DRAAdminAccess', ['devices.requests.*.exactly.adminAccess']],
  ['DRAConsumableCapacity', ['devices.constraints.*.distinctAttribute', ...ofRequests('capacity')]],
];

export const TOLERATION: InternalFields = [
  ['Key', 'key', ''],
  ['Operator', 'operator', ''],
  ['Value', 'value', ''],
  ['Effect', 'effect', ''],
  ['TolerationSeconds', 'tolerationSeconds'],
];
const SELECTOR: InternalFields = [['CEL', 'cel', [['Expression', 'expression', '']]]];
const CAPACITY: InternalFields = [['Requests', 'requests']];
const EXACT: InternalFields = [
  ['DeviceClassName', 'deviceClassName', ''],
  ['Selectors', 'selectors', SELECTOR],
  ['AllocationMode', 'allocationMode', ''],
  ['Count', 'count', 0],
  ['AdminAccess', 'adminAccess'],
  ['Tolerations', 'tolerations', TOLERATION],
  ['Capacity', 'capacity', CAPACITY],
];
const ALTERNATIVE: InternalFields = [['Name', 'name', ''], ...EXACT.filter(([name]) => name !== 'AdminAccess')];
export const OPAQUE: InternalFields[number] = [
  'Opaque',
  'opaque',
  [
    ['Driver', 'driver', ''],
    ['Parameters', 'parameters'],
  ],
];
const SPEC: InternalFields = [
  [
    'Devices',
    'devices',
    [
      [
        'Requests',
        'requests',
        [
          ['Name', 'name', ''],
          ['Exactly', 'exactly', EXACT],
          ['FirstAvailable', 'firstAvailable', ALTERNATIVE],
        ],
      ],
      [
        'Constraints',
        'constraints',
        [
          ['Requests', 'requests'],
          ['MatchAttribute', 'matchAttribute'],
          ['DistinctAttribute', 'distinctAttribute'],
        ],
      ],
      ['Config', 'config', [['Requests', 'requests'], OPAQUE]],
    ],
  ],
];

/** As upstream shows it in an error. */
export const printedClaimSpec = (spec: ResourceClaimSpec): object | null => internalForm(spec, SPEC);

/** `isFlat`: of v1beta1, where a request that names no class may have alternatives instead. */
export function defaultClaimSpec({ devices }: ResourceClaimSpec, isFlat = false): void {
  for (const { exactly, firstAvailable } of devices.requests ?? []) {
    for (const request of [...(exactly ? [exactly] : []), ...(firstAvailable ?? [])]) {
      defaultTolerations(request.tolerations);
      if (isFlat && request === exactly && !request.deviceClassName) continue;
      request.allocationMode ||= EXACT_COUNT;
      if (request.allocationMode === EXACT_COUNT) request.count ||= 1;
    }
  }
}

export function validateResourceClaimSpec({ devices }: ResourceClaimSpec, errors: FieldErrors, settings: KindSettings): void {
  const names = requestNames(devices);
  const at = errors.at('devices');
  if ((devices.requests ?? []).length <= MAX_REQUESTS && expressionLength(devices) > LIMITS.claimExpressionCharacters)
    at.at('requests').forbidden(`the expressions of all selectors together may not be more than ${LIMITS.claimExpressionCharacters} characters`);
  else
    validateUnique(
      devices.requests,
      MAX_REQUESTS,
      (request, place) => validateRequest(request, settings, place),
      ({ name }) => name,
      at.at('requests'),
    );
  validateList(devices.constraints, MAX_CONSTRAINTS, (constraint, place) => validateConstraint(constraint, names, settings, place), at.at('constraints'));
  validateList(devices.config, MAX_CONFIGS, (config, place) => validateClaimConfiguration(config, names, place), at.at('config'));
}

/** Of all that are to be compiled. Each may be 10 KiB long, and there may be thousands. */
function expressionLength({ requests }: DeviceClaim): number {
  const lengthOf = (selectors: readonly DeviceSelector[] = []): number => selectors.reduce((sum, { cel }) => sum + (cel?.expression.length ?? 0), 0);
  return (requests ?? []).reduce(
    (sum, { exactly, firstAvailable }) => sum + [exactly, ...(firstAvailable ?? [])].reduce((own, request) => own + lengthOf(request?.selectors), 0),
    0,
  );
}

/** `gpu`, and `gpu/large` for its alternatives. */
export function requestNames({ requests }: DeviceClaim): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { name, firstAvailable } of requests ?? []) {
    // A slash parts a request from its alternative: a request whose own (invalid) name has one is referred to by nothing.
    if (name.includes('/')) continue;
    names.add(name);
    for (const alternative of firstAvailable ?? []) names.add(`${name}/${alternative.name}`);
  }
  return names;
}

/** Each of them the name of a request of the claim. */
export function validateRequestReferences(references: readonly string[] | undefined, names: ReadonlySet<string>, errors: FieldErrors): void {
  validateUnique(
    references,
    MAX_REQUESTS,
    (name, at) => validateRequestReference(name, names, at),
    (name) => name,
    errors,
  );
}

export function validateRequestReference(name: string, names: ReadonlySet<string>, errors: FieldErrors): void {
  const segments = name.split('/');
  if (segments.length <= 2) for (const segment of segments) validateLabelLikeName(segment, errors);
  if (segments.length > 2 || !names.has(name)) errors.invalid(name, UNKNOWN_REQUEST);
}

function validateRequest({ name, exactly, firstAvailable = [] }: DeviceRequest, settings: KindSettings, errors: FieldErrors): void {
  validateLabelLikeName(name, errors.at('name'));
  if (exactly && firstAvailable.length > 0) errors.invalid(null, `${ONE_OF}, but multiple fields are set`);
  else if (exactly) validateExact(exactly, settings, errors.at('exactly'));
  else if (firstAvailable.length > 0)
    validateUnique(
      firstAvailable,
      MAX_ALTERNATIVES,
      (request, place) => validateAlternative(request, settings, place),
      (alternative) => alternative.name,
      errors.at('firstAvailable'),
    );
  else errors.required(ONE_OF);
}

function validateAlternative(request: DeviceSubRequest, settings: KindSettings, errors: FieldErrors): void {
  validateLabelLikeName(request.name, errors.at('name'));
  validateExact(request, settings, errors);
}

function validateExact(
  { deviceClassName, selectors, allocationMode = '', count = 0, tolerations }: ExactDeviceRequest,
  settings: KindSettings,
  errors: FieldErrors,
): void {
  if (deviceClassName === '') errors.at('deviceClassName').required();
  else validateSubdomainLikeName(deviceClassName, errors.at('deviceClassName'));
  validateDeviceSelectors(selectors, settings, errors.at('selectors'));
  if (allocationMode === ALL) {
    if (count !== 0) errors.at('count').invalid(count, `must not be specified when allocationMode is '${ALL}'`);
  } else if (allocationMode === EXACT_COUNT) {
    if (count <= 0) errors.at('count').invalid(count, 'must be greater than zero');
  } else errors.at('allocationMode').notSupported(allocationMode, [ALL, EXACT_COUNT]);
  validateDeviceTolerations(tolerations, errors.at('tolerations'));
}

function validateConstraint(
  { requests, matchAttribute, distinctAttribute }: DeviceConstraint,
  names: ReadonlySet<string>,
  settings: KindSettings,
  errors: FieldErrors,
): void {
  validateRequestReferences(requests, names, errors.at('requests'));
  if (matchAttribute !== undefined) validateDomainQualifiedName(matchAttribute, errors.at('matchAttribute'));
  else if (distinctAttribute !== undefined) validateDomainQualifiedName(distinctAttribute, errors.at('distinctAttribute'));
  // Upstream's words, though nothing is set here.
  else if (!isFeatureOn(settings, 'DRAConsumableCapacity')) errors.at('matchAttribute').required();
  else errors.required('exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set');
}

function validateClaimConfiguration(config: DeviceClaimConfiguration, names: ReadonlySet<string>, errors: FieldErrors): void {
  validateRequestReferences(config.requests, names, errors.at('requests'));
  validateConfiguration(config, false, errors);
}
