import type { Authorizer } from '../../registry/authorizer.ts';
import type { ReviewHandler } from '../../registry/review-store.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { badRequest, invalid } from '../../api/errors.ts';
import { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import type { User } from '../../api/user.ts';
import { type AccessSpec, printedPath, questionOf, validateAccessSpec, validateAttributeSelectors } from './attributes.ts';

/** SubjectAccessReview, its local form, and SelfSubjectAccessReview: may this subject do that? */
interface AccessReview extends ApiObject {
  spec: AccessSpec & { user?: string; groups?: string[]; uid?: string; extra?: Record<string, string[]> };
  status?: unknown;
}

interface RulesReview extends ApiObject {
  spec: { namespace?: string };
  status?: unknown;
}

export const subjectAccessReview =
  (authorizer: Authorizer): ReviewHandler<AccessReview> =>
  async (review) => {
    check((errors) => {
      validateSubject(review, errors);
      validateMetadataEmpty(review, {}, 'must be empty', errors);
    });
    return answer(authorizer, review, subjectOf(review));
  };

export const localSubjectAccessReview =
  (authorizer: Authorizer): ReviewHandler<AccessReview> =>
  async (review, _context, namespace) => {
    check((errors) => {
      validateSubject(review, errors);
      validateMetadataEmpty(review, { namespace: review.metadata.namespace }, 'must be empty except for namespace', errors);
      const { resourceAttributes, nonResourceAttributes } = review.spec;
      const asked = resourceAttributes?.namespace ?? '';
      if (resourceAttributes && asked !== (review.metadata.namespace ?? ''))
        errors.at('spec', 'resourceAttributes', 'namespace').invalid(asked, 'must match metadata.namespace');
      if (nonResourceAttributes) errors.at('spec', 'nonResourceAttributes').invalid(printedPath(nonResourceAttributes), 'disallowed on this kind of request');
    });
    if (namespace !== review.metadata.namespace) throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`);
    return answer(authorizer, review, subjectOf(review));
  };

export const selfSubjectAccessReview =
  (authorizer: Authorizer): ReviewHandler<AccessReview> =>
  async (review, { user }) => {
    check((errors) => {
      validateAccessSpec(review.spec, errors.at('spec'));
      validateAttributeSelectors(review.spec.resourceAttributes, errors.at('spec', 'resourceAttributes'));
      validateMetadataEmpty(review, {}, 'must be empty', errors);
    });
    return answer(authorizer, review, user);
  };

export const selfSubjectRulesReview =
  (authorizer: Authorizer): ReviewHandler<RulesReview> =>
  async ({ kind, apiVersion, spec }, { user }) => {
    if (!spec.namespace) throw badRequest('no namespace on request');
    const { resourceRules, nonResourceRules, isIncomplete, evaluationError } = await authorizer.rulesFor(user, spec.namespace);
    // The question is not repeated in the answer.
    return {
      kind,
      apiVersion,
      metadata: {},
      spec: {},
      status: { resourceRules, nonResourceRules, incomplete: isIncomplete, ...(evaluationError && { evaluationError }) },
    };
  };

function check(rules: (errors: FieldErrors) => void): void {
  const errors = new FieldErrors();
  rules(errors);
  // Upstream's internal objects do not know their kind, so that the error names none.
  if (!errors.isEmpty) throw invalid({ group: 'authorization.k8s.io', kind: '' }, '', errors.list);
}

function validateSubject({ spec }: AccessReview, errors: FieldErrors): void {
  validateAccessSpec(spec, errors.at('spec'));
  if (!spec.user && (spec.groups ?? []).length === 0) errors.at('spec', 'user').invalid(spec.user ?? '', 'at least one of user or group must be specified');
  validateAttributeSelectors(spec.resourceAttributes, errors.at('spec', 'resourceAttributes'));
}

function validateMetadataEmpty({ metadata }: AccessReview, allowed: object, why: string, errors: FieldErrors): void {
  const { managedFields: _kept, ...rest } = metadata;
  if (!equalJson(rest, allowed)) errors.at('metadata').invalid(metadata, why);
}

const subjectOf = ({ spec }: AccessReview): User => ({
  name: spec.user ?? '',
  groups: spec.groups ?? [],
  ...(spec.uid && { uid: spec.uid }),
  ...(spec.extra && { extra: spec.extra }),
});

async function answer(authorizer: Authorizer, review: AccessReview, user: User): Promise<AccessReview> {
  const { attributes, problems } = questionOf(user, review.spec);
  const { decision, reason, error } = await authorizer.authorize(attributes);
  const evaluationError = [...(error ? [error] : []), ...problems].join('; ');
  const denied = decision === 'deny';
  review.status = { allowed: decision === 'allow', ...(denied && { denied }), ...(reason && { reason }), ...(evaluationError && { evaluationError }) };
  return review;
}
