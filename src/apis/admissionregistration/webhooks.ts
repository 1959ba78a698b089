import type { ResourceDefinition } from '../../registry/definition.ts';
import { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { dns1035LabelErrors, dns1123SubdomainErrors } from '../../api/names.ts';
import { countEmptied } from '../emptied-generation.ts';
import type { MutatingWebhook, MutatingWebhookConfiguration, ValidatingWebhook } from '../facts/types/admissionregistration-v1.ts';
import { validateOptionalChoice } from '../validation/choice.ts';
import { validateLabelSelector } from '../validation/label-selector.ts';
import { DEFAULT_WEBHOOK_PORT, validateWebhookClientConfig } from '../validation/webhook-client-config.ts';
import { expressionsOf, validateMatchConditions } from './match-conditions.ts';
import { EQUIVALENT, FAIL, FAILURE_POLICIES, MATCH_POLICIES, NEVER, REINVOCATION_POLICIES } from './policies.ts';
import { defaultWebhookRules, validateRules } from './rules.ts';
import { refuseReservedName, reservedNameWarnings } from './reserved-names.ts';
import { repeats } from '../validation/repeats.ts';
import { checkEach } from '../../api/validation-run.ts';

/** A webhook of either kind: a validating one has no reinvocationPolicy. */
type Webhook = ValidatingWebhook & Pick<MutatingWebhook, 'reinvocationPolicy'>;
type WebhookConfiguration = MutatingWebhookConfiguration;

/** What an older object may keep although a new one would be refused for it. */
interface Leniency {
  allowSideEffects: boolean;
  allowUnknownReviewVersions: boolean;
  allowSameNames: boolean;
  allowInvalidSelectors: boolean;
  skipMatchConditions: boolean;
  storedExpressions: ReadonlySet<string>;
}

const STRICT: Leniency = {
  allowSideEffects: false,
  allowUnknownReviewVersions: false,
  allowSameNames: false,
  allowInvalidSelectors: false,
  skipMatchConditions: false,
  storedExpressions: new Set(),
};

const REVIEW_VERSIONS = ['v1', 'v1beta1'];
const NO_SIDE_EFFECTS = ['None', 'NoneOnDryRun'];
const SIDE_EFFECTS = ['None', 'NoneOnDryRun', 'Some', 'Unknown'];
const TIMEOUT_MAX_SECONDS = 30;

/** What configurations of both kinds of webhooks have in common. */
export const webhookConfigurationRules: Pick<
  ResourceDefinition<WebhookConfiguration>,
  'generation' | 'allowsUnconditionalUpdate' | 'validatesWhole' | 'validatesMetadataUpdate' | 'prepareForUpdate' | 'validate' | 'warnings'
> = {
  generation: 'spec',
  allowsUnconditionalUpdate: false,
  validatesWhole: 'before',
  validatesMetadataUpdate: false,
  prepareForUpdate: (write) => countEmptied(write, 'webhooks'),
  validate(write, errors) {
    const {
      object: { webhooks = [] },
      old,
      settings: { hasFormerCel },
    } = write;
    const leniency = old ? leniencyFor(webhooks, old.webhooks ?? []) : STRICT;
    const names = new Set<string>();
    for (const [index, webhook] of webhooks.entries()) {
      const at = errors.at('webhooks').index(index);
      validateWebhook(webhook, leniency, hasFormerCel, at);
      validateReviewVersions(webhook.admissionReviewVersions ?? [], leniency, at.at('admissionReviewVersions'));
      if (!leniency.allowSameNames && webhook.name !== '' && names.has(webhook.name)) at.at('name').duplicate(webhook.name);
      names.add(webhook.name);
    }
    refuseReservedName(write, errors);
  },
  warnings: reservedNameWarnings,
};

export function defaultWebhook(webhook: Webhook): void {
  webhook.failurePolicy ??= FAIL;
  webhook.matchPolicy ??= EQUIVALENT;
  webhook.namespaceSelector ??= {};
  webhook.objectSelector ??= {};
  webhook.timeoutSeconds ??= 10;
  if (webhook.clientConfig.service) webhook.clientConfig.service.port ??= DEFAULT_WEBHOOK_PORT;
  defaultWebhookRules(webhook.rules);
}

export function defaultMutatingWebhook(webhook: MutatingWebhook): void {
  defaultWebhook(webhook);
  webhook.reinvocationPolicy ??= NEVER;
}

function leniencyFor(webhooks: readonly Webhook[], old: readonly Webhook[]): Leniency {
  return {
    allowSideEffects: old.some(({ sideEffects }) => !sideEffects || !NO_SIDE_EFFECTS.includes(sideEffects)),
    allowUnknownReviewVersions: old.some(({ admissionReviewVersions: versions }) => (versions ?? []).length > 0 && !versions!.some(isKnownReview)),
    allowSameNames: new Set(old.map(({ name }) => name)).size < old.length,
    allowInvalidSelectors: old.some(hasInvalidSelector),
    skipMatchConditions:
      webhooks.length === old.length && webhooks.every(({ matchConditions }, index) => equalJson(matchConditions ?? [], old[index]!.matchConditions ?? [])),
    storedExpressions: new Set(old.flatMap(({ matchConditions }) => expressionsOf(matchConditions))),
  };
}

const isKnownReview = (version: string): boolean => REVIEW_VERSIONS.includes(version);

function hasInvalidSelector({ namespaceSelector, objectSelector }: Webhook): boolean {
  const found = new FieldErrors();
  validateLabelSelector(namespaceSelector, found);
  validateLabelSelector(objectSelector, found);
  return !found.isEmpty;
}

function validateWebhook(webhook: Webhook, leniency: Leniency, hasFormerCel: boolean | undefined, errors: FieldErrors): void {
  const { name, rules, failurePolicy, matchPolicy, timeoutSeconds, reinvocationPolicy, clientConfig, matchConditions } = webhook;
  validateFullyQualifiedName(name, errors.at('name'));
  validateRules(rules, errors.at('rules'));
  validateOptionalChoice(failurePolicy, FAILURE_POLICIES, errors.at('failurePolicy'));
  validateOptionalChoice(matchPolicy, MATCH_POLICIES, errors.at('matchPolicy'));
  validateSideEffects(webhook.sideEffects, leniency.allowSideEffects ? SIDE_EFFECTS : NO_SIDE_EFFECTS, errors.at('sideEffects'));
  if (timeoutSeconds !== undefined && (timeoutSeconds < 1 || timeoutSeconds > TIMEOUT_MAX_SECONDS)) {
    errors.at('timeoutSeconds').invalid(timeoutSeconds, `the timeout value must be between 1 and ${TIMEOUT_MAX_SECONDS} seconds`);
  }
  for (const field of ['namespaceSelector', 'objectSelector'] as const)
    validateLabelSelector(webhook[field], errors.at(field), { allowInvalidValues: leniency.allowInvalidSelectors });
  validateOptionalChoice(reinvocationPolicy, REINVOCATION_POLICIES, errors.at('reinvocationPolicy'));
  validateWebhookClientConfig(clientConfig, errors.at('clientConfig'));
  if (!leniency.skipMatchConditions)
    validateMatchConditions(matchConditions, { hasParams: false, hasFormerCel }, leniency.storedExpressions, errors.at('matchConditions'));
}

function validateSideEffects(value: string | null, choices: readonly string[], errors: FieldErrors): void {
  if (value === null) errors.required(`must specify one of ${choices.join(', ')}`);
  else if (!choices.includes(value)) errors.notSupported(value, choices);
}

function validateReviewVersions(versions: readonly string[], leniency: Leniency, errors: FieldErrors): void {
  if (versions.length === 0) return errors.required(`must specify one of ${REVIEW_VERSIONS.join(', ')}`);
  const check = (version: string, index: number, isRepeated: (version: string) => boolean): void => {
    const at = errors.index(index);
    if (isRepeated(version)) at.invalid(version, 'duplicate version');
    else for (const error of dns1035LabelErrors(version)) at.invalid(version, error);
  };
  checkEach(errors, 'versions', versions, check, repeats<string>);
  if (!leniency.allowUnknownReviewVersions && !versions.some(isKnownReview))
    errors.invalid(versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`);
}

/** A name under a domain of someone's: three segments at least (apimachinery/pkg/util/validation IsFullyQualifiedName). */
function validateFullyQualifiedName(name: string, errors: FieldErrors): void {
  if (name === '') return errors.required();
  const problems = dns1123SubdomainErrors(name);
  if (problems.length > 0) errors.invalid(name, problems.join(','));
  else if (name.split('.').length < 3) errors.invalid(name, 'should be a domain with at least three segments separated by dots');
}
