import type { FieldErrors } from '../../api/field-errors.ts';
import { dns1035LabelErrors } from '../../api/names.ts';
import type { CustomResourceConversion } from '../facts/types/apiextensions-v1.ts';
import { validateCaBundle } from '../validation/ca-bundle.ts';
import { validateStringChoice } from '../validation/choice.ts';
import { validateWebhookClientConfig } from '../validation/webhook-client-config.ts';
import { repeats } from '../validation/repeats.ts';

/** How objects are turned from one version into another. */
const NONE = 'None';
const WEBHOOK = 'Webhook';
const REVIEW_VERSIONS = ['v1', 'v1beta1'];
const NOT_WITHOUT_WEBHOOK = 'should not be set when strategy is not set to Webhook';

export interface ConversionStrictness {
  requireKnownReview: boolean;
  allowInvalidCaBundle: boolean;
}

export const needsConversion = (conversion: CustomResourceConversion | undefined): boolean => conversion !== undefined && conversion.strategy !== NONE;

export const hasKnownReview = (versions: readonly string[]): boolean => versions.length === 0 || versions.some((version) => REVIEW_VERSIONS.includes(version));

/** `errors` stands at `conversion`; upstream's paths know no `webhook` in between. */
export function validateConversion({ strategy, webhook }: CustomResourceConversion, strictness: ConversionStrictness, errors: FieldErrors): void {
  validateStringChoice(strategy, [NONE, WEBHOOK], errors.at('strategy'));
  const { clientConfig, conversionReviewVersions } = webhook ?? {};
  const at = errors.at('webhookClientConfig');
  if (strategy !== WEBHOOK) {
    if (clientConfig) at.forbidden(NOT_WITHOUT_WEBHOOK);
    if ((conversionReviewVersions ?? []).length > 0) errors.at('conversionReviewVersions').forbidden(NOT_WITHOUT_WEBHOOK);
    return;
  }
  if (!clientConfig) at.required('required when strategy is set to Webhook');
  else {
    validateWebhookClientConfig(clientConfig, at);
    if (clientConfig.caBundle && !strictness.allowInvalidCaBundle) validateCaBundle(clientConfig.caBundle, at.at('caBundle'));
  }
  validateReviewVersions(conversionReviewVersions ?? [], strictness.requireKnownReview, errors.at('conversionReviewVersions'));
}

function validateReviewVersions(versions: readonly string[], requireKnown: boolean, errors: FieldErrors): void {
  if (versions.length === 0) return errors.required();
  const isRepeated = repeats<string>();
  for (const [index, version] of versions.entries()) {
    if (isRepeated(version)) errors.index(index).invalid(version, 'duplicate version');
    else for (const error of dns1035LabelErrors(version)) errors.index(index).invalid(version, error);
  }
  if (requireKnown && !hasKnownReview(versions)) errors.invalid(versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`);
}
