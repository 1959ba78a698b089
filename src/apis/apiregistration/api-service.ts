import { validateMetadata } from '../../registry/metadata.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { quote } from '../../util/go-quote.ts';
import { dns1035LabelErrors, dns1123SubdomainErrors, pathSegmentErrors } from '../../api/names.ts';
import { timeOf } from '../../util/time.ts';
import { defineResource } from '../define.ts';
import type { APIService, APIServiceSpec, ServiceReference } from '../facts/types/apiregistration-v1.ts';
import { keepMetadataForStatus } from '../status-metadata.ts';
import { inclusiveRangeError } from '../validation/ports.ts';
import { DEFAULT_WEBHOOK_PORT } from '../validation/webhook-client-config.ts';

const GROUP_PRIORITY_MAX = 20_000;
const VERSION_PRIORITY_MAX = 1000;
const CONDITION_STATUSES = ['True', 'False', 'Unknown'];

/** A group-version, and who serves it: this server, or another behind a Service. */
export const apiServices = defineResource<APIService>('apiregistration.k8s.io/v1/apiservices', {
  storage: { prefix: 'apiregistration.k8s.io/apiservices', form: { isJson: true } },
  allowsUnconditionalUpdate: false,

  default({ spec }) {
    if (spec.service) spec.service.port ??= DEFAULT_WEBHOOK_PORT;
  },
  prepareForCreate({ object: service, now }) {
    service.status = service.spec.service ? {} : { conditions: [locallyAvailable(now)] };
  },

  // The name follows from the spec, so metadata is validated below.
  validatesMetadata: false,
  validatesMetadataUpdate: true,
  validatesWhole: 'after',
  validate({ object: { metadata, spec } }, errors) {
    validateMetadata(metadata, false, (name) => nameErrors(name, spec), errors.at('metadata'));
    const at = errors.at('spec');
    validateGroupVersion(spec, at);
    validatePriority(spec.groupPriorityMinimum, GROUP_PRIORITY_MAX, at.at('groupPriorityMinimum'));
    validatePriority(spec.versionPriority, VERSION_PRIORITY_MAX, at.at('versionPriority'));
    if (spec.service) validateRemote(spec, spec.service, at);
    else validateLocal(spec, at);
  },

  subresources: {
    status: {
      hasNoTable: true,
      update: {
        allowsUnconditionalUpdate: false,
        prepareForUpdate: keepMetadataForStatus,
        validateUpdate({ object: { status } }, errors) {
          for (const [index, condition] of (status.conditions ?? []).entries()) {
            if (!CONDITION_STATUSES.includes(condition.status))
              errors.at('status', 'conditions').index(index).at('status').notSupported(condition.status, CONDITION_STATUSES);
          }
        },
      },
    },
  },

  cells: {
    Service: ({ spec: { service } }) => (service ? `${service.namespace ?? ''}/${service.name ?? ''}` : 'Local'),
    Available: ({ status }) => {
      const condition = (status.conditions ?? []).find(({ type }) => type === 'Available');
      if (!condition) return 'Unknown';
      return condition.status === 'True' || !condition.reason ? condition.status : `${condition.status} (${condition.reason})`;
    },
  },
});

/** There is no other server behind it that could be away. */
export const locallyAvailable = (now: Date): { type: string; status: string; lastTransitionTime: string; reason: string; message: string } => ({
  type: 'Available',
  status: 'True',
  lastTransitionTime: timeOf(now),
  reason: 'Local',
  message: 'Local APIServices are always available',
});

function nameErrors(name: string, { version = '', group = '' }: APIServiceSpec): string[] {
  const problems = pathSegmentErrors(name);
  if (problems.length > 0) return problems;
  const required = `${version}.${group}`;
  return name === required ? [] : [`must be \`spec.version+"."+spec.group\`: ${quote(required)}`];
}

function validateGroupVersion({ group = '', version = '' }: APIServiceSpec, errors: FieldErrors): void {
  if (group === '' && version !== 'v1') errors.at('group').required('only v1 may have an empty group and it better be legacy kube');
  if (group !== '') for (const error of dns1123SubdomainErrors(group)) errors.at('group').invalid(group, error);
  for (const error of dns1035LabelErrors(version)) errors.at('version').invalid(version, error);
}

function validatePriority(priority: number, max: number, errors: FieldErrors): void {
  if (priority <= 0 || priority > max) errors.invalid(priority, `must be positive and less than ${max}`);
}

function validateLocal({ caBundle = '', insecureSkipTLSVerify }: APIServiceSpec, errors: FieldErrors): void {
  if (caBundle !== '') errors.at('caBundle').invalid(`${Buffer.byteLength(caBundle, 'base64')} bytes`, 'local APIServices may not have a caBundle');
  if (insecureSkipTLSVerify) errors.at('insecureSkipTLSVerify').invalid(true, 'local APIServices may not have insecureSkipTLSVerify');
}

function validateRemote({ caBundle = '', insecureSkipTLSVerify }: APIServiceSpec, { namespace, name, port = 0 }: ServiceReference, errors: FieldErrors): void {
  if (!namespace) errors.at('service', 'namespace').required();
  if (!name) errors.at('service', 'name').required();
  if (port < 1 || port > 65_535) errors.at('service', 'port').invalid(port, `port is not valid: ${inclusiveRangeError(1, 65_535)}`);
  if (insecureSkipTLSVerify && caBundle !== '') errors.at('insecureSkipTLSVerify').invalid(true, 'may not be true if caBundle is present');
}
