import type { FieldErrors } from '../../../api/field-errors.ts';
import { validateChoice } from '../../validation/choice.ts';

const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];

/** Of a container's image, and of one that is mounted. */
export const validatePullPolicy = (policy: string | undefined, errors: FieldErrors): void => validateChoice(policy, PULL_POLICIES, errors);
