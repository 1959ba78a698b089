import type { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { defineResource } from '../define.ts';
import type {
  ExemptPriorityLevelConfiguration,
  LimitResponse,
  LimitedPriorityLevelConfiguration,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
} from '../facts/types/flowcontrol-v1.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { type InternalFields, internalForm } from '../validation/internal-form.ts';
import { EXEMPT, MANDATORY_PRIORITY_LEVELS } from './mandatory.ts';
import { statusUpdate, validateStatusConditions } from './status-conditions.ts';

/** For versions that are no longer served, and so for nobody. */
const ZERO_SHARES_ANNOTATION = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares';
const EXEMPT_TYPE = 'Exempt';
const LIMITED_TYPE = 'Limited';
const QUEUE = 'Queue';
const REJECT = 'Reject';
const MAX_QUEUES = 10_000_000;
/** Of a flow's hash, from which its hand of queues is dealt (apiserver/pkg/util/shufflesharding). */
const MAX_HASH_BITS = 60;

const QUEUING: InternalFields = [
  ['Queues', 'queues', 0],
  ['HandSize', 'handSize', 0],
  ['QueueLengthLimit', 'queueLengthLimit', 0],
];
const SPEC: InternalFields = [
  ['Type', 'type', ''],
  [
    'Limited',
    'limited',
    [
      ['NominalConcurrencyShares', 'nominalConcurrencyShares', 0],
      [
        'LimitResponse',
        'limitResponse',
        [
          ['Type', 'type', ''],
          ['Queuing', 'queuing', QUEUING],
        ],
      ],
      ['LendablePercent', 'lendablePercent'],
      ['BorrowingLimitPercent', 'borrowingLimitPercent'],
    ],
  ],
  [
    'Exempt',
    'exempt',
    [
      ['NominalConcurrencyShares', 'nominalConcurrencyShares'],
      ['LendablePercent', 'lendablePercent'],
    ],
  ],
];

/** A share of what the server does at once, and what happens to requests beyond it. */
export const priorityLevelConfigurations = defineResource<PriorityLevelConfiguration>('flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations', {
  generation: 'spec',

  default({ spec: { limited, exempt } }) {
    if (limited) defaultLimited(limited);
    if (!exempt) return;
    exempt.nominalConcurrencyShares ??= 0;
    exempt.lendablePercent ??= 0;
  },

  validatesWhole: 'before',
  validatesMetadataUpdate: false,
  validate({ object: level }, errors) {
    const { metadata, spec } = level;
    validateFinalizerNames(metadata, errors);
    if (metadata.annotations?.[ZERO_SHARES_ANNOTATION] !== undefined)
      errors.at('metadata', 'annotations').forbidden(`annotation '${ZERO_SHARES_ANNOTATION}' is forbidden`);
    validateSpec(metadata.name ?? '', spec, errors.at('spec'));
    validateMandatory(metadata.name ?? '', spec, errors.at('spec'));
    validateStatusConditions(level, errors);
  },

  subresources: { status: { update: statusUpdate } },

  cells: {
    Type: ({ spec }) => spec.type,
    NominalConcurrencyShares: ({ spec }) => (spec.limited ? (spec.limited.nominalConcurrencyShares ?? 0) : '<none>'),
    Queues: ({ spec }) => spec.limited?.limitResponse.queuing?.queues ?? '<none>',
    HandSize: ({ spec }) => spec.limited?.limitResponse.queuing?.handSize ?? '<none>',
    QueueLengthLimit: ({ spec }) => spec.limited?.limitResponse.queuing?.queueLengthLimit ?? '<none>',
  },
});

function defaultLimited(limited: LimitedPriorityLevelConfiguration): void {
  limited.nominalConcurrencyShares ??= 30;
  limited.lendablePercent ??= 0;
  const { queuing } = limited.limitResponse;
  if (!queuing) return;
  queuing.handSize ||= 8;
  queuing.queues ||= 64;
  queuing.queueLengthLimit ||= 50;
}

/** Of the exempt level, how much it lends may be changed; of the one that catches all the rest, nothing. */
function validateMandatory(name: string, spec: PriorityLevelConfigurationSpec, errors: FieldErrors): void {
  const fixed = MANDATORY_PRIORITY_LEVELS.get(name);
  if (!fixed) return;
  const compared = name === EXEMPT ? { ...spec, exempt: fixed.exempt } : spec;
  if (!equalJson(compared, fixed))
    errors.invalid(internalForm(spec, SPEC), `spec of '${name}'${name === EXEMPT ? " except the 'spec.exempt' field" : ''} must equal the fixed value`);
}

function validateSpec(name: string, { type, limited, exempt }: PriorityLevelConfigurationSpec, errors: FieldErrors): void {
  if ((name === EXEMPT) !== (type === EXEMPT_TYPE)) errors.at('type').invalidTyped(type, "must be 'Exempt' if and only if `name` is 'exempt'");
  if (type === EXEMPT_TYPE) {
    if (limited) errors.at('limited').forbidden('must be nil if the type is not Limited');
    if (exempt) validateExempt(exempt, errors.at('exempt'));
  } else if (type === LIMITED_TYPE) {
    if (exempt) errors.at('exempt').forbidden('must be nil if the type is Limited');
    if (limited) validateLimited(limited, errors.at('limited'));
    else errors.at('limited').required('must not be empty when type is Limited');
  } else if (type === '') errors.at('type').required();
  else errors.at('type').notSupported(type, [EXEMPT_TYPE, LIMITED_TYPE]);
}

function validateLimited(
  { nominalConcurrencyShares, limitResponse, lendablePercent, borrowingLimitPercent }: LimitedPriorityLevelConfiguration,
  errors: FieldErrors,
): void {
  validateShares(nominalConcurrencyShares, errors.at('nominalConcurrencyShares'));
  validateLimitResponse(limitResponse, errors.at('limitResponse'));
  validatePercent(lendablePercent, errors.at('lendablePercent'));
  if (borrowingLimitPercent !== undefined && borrowingLimitPercent < 0)
    errors.at('borrowingLimitPercent').invalid(borrowingLimitPercent, 'if specified, must be a non-negative integer');
}

function validateExempt({ nominalConcurrencyShares, lendablePercent }: ExemptPriorityLevelConfiguration, errors: FieldErrors): void {
  validateShares(nominalConcurrencyShares, errors.at('nominalConcurrencyShares'));
  validatePercent(lendablePercent, errors.at('lendablePercent'));
}

function validateShares(shares: number | null | undefined, errors: FieldErrors): void {
  if ((shares ?? 0) < 0) errors.invalid(shares, 'must be a non-negative integer');
}

function validatePercent(percent: number | undefined, errors: FieldErrors): void {
  if (percent !== undefined && (percent < 0 || percent > 100)) errors.invalid(percent, 'must be between 0 and 100, inclusive');
}

function validateLimitResponse({ type, queuing }: LimitResponse, errors: FieldErrors): void {
  if (type === REJECT) {
    if (queuing) errors.at('queuing').forbidden('must be nil if limited.limitResponse.type is not Limited');
  } else if (type === QUEUE) {
    if (queuing) validateQueuing(queuing, errors.at('queuing'));
    else errors.at('queuing').required('must not be empty if limited.limitResponse.type is Limited');
  } else if (type === '') errors.at('type').required();
  else errors.at('type').notSupported(type, [QUEUE, REJECT]);
}

function validateQueuing({ queues, handSize, queueLengthLimit }: QueuingConfiguration, errors: FieldErrors): void {
  if (queueLengthLimit <= 0) errors.at('queueLengthLimit').invalid(queueLengthLimit, 'must be positive');
  if (queues <= 0) errors.at('queues').invalid(queues, 'must be positive');
  else if (queues > MAX_QUEUES) errors.at('queues').invalid(queues, `must not be greater than ${MAX_QUEUES}`);
  const at = errors.at('handSize');
  if (handSize <= 0) at.invalid(handSize, 'must be positive');
  else if (handSize > queues) at.invalid(handSize, `should not be greater than queues (${queues})`);
  else if (Math.ceil(Math.log2(queues) * handSize) > MAX_HASH_BITS)
    at.invalid(handSize, `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${MAX_HASH_BITS}`);
}
