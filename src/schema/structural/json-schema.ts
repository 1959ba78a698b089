import type { Json } from '../../encoding/json-types.ts';

/** A schema as a CustomResourceDefinition has it (apiextensions.k8s.io/v1 JSONSchemaProps): the parts that objects are compiled and shaped by. */
export interface JsonSchema {
  type?: string;
  format?: string;
  default?: Json;
  nullable?: boolean;
  enum?: readonly Json[];
  maximum?: number;
  exclusiveMaximum?: boolean;
  minimum?: number;
  exclusiveMinimum?: boolean;
  multipleOf?: number;
  maxLength?: number;
  minLength?: number;
  pattern?: string;
  maxItems?: number;
  minItems?: number;
  uniqueItems?: boolean;
  maxProperties?: number;
  minProperties?: number;
  required?: readonly string[];
  /** A schema; JSON Schema's lists of them are refused in definitions. */
  items?: unknown;
  properties?: Readonly<Record<string, JsonSchema>>;
  /** A schema or a boolean. */
  additionalProperties?: unknown;
  allOf?: readonly JsonSchema[];
  anyOf?: readonly JsonSchema[];
  oneOf?: readonly JsonSchema[];
  not?: JsonSchema;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-embedded-resource'?: boolean;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-list-map-keys'?: readonly string[];
  'x-kubernetes-map-type'?: string;
  'x-kubernetes-validations'?: readonly ValidationRule[];
}

/** One of x-kubernetes-validations, as apiextensions.k8s.io/v1 ValidationRule. */
export interface ValidationRule {
  rule: string;
  message?: string;
  messageExpression?: string;
  reason?: string;
  fieldPath?: string;
  optionalOldSelf?: boolean;
}
