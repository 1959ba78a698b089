import { PlanError, compileInSteps } from '../../cel/cel.ts';
import { declaredSizes, declaredTypes, type DeclaredType } from '../../cel/data/declared-type.ts';
import { BINDINGS_LIBRARY } from '../../cel/library/comprehensions.ts';
import { KUBERNETES_ENVIRONMENT, formerKubernetesEnvironment } from '../../cel/library/kubernetes.ts';
import { CelErrors } from '../../cel/source.ts';
import type { SlicedWork } from '../../util/time-slice.ts';
import { ANY, BOOL, STRING, mapType, printedType, structType, type CelType } from '../../cel/types.ts';

/** Limits of what a device can say of itself (pkg/apis/resource/types.go). */
const DRIVER_MAX_LENGTH = 63;
const DOMAIN_MAX_LENGTH = 63;
const VALUE_MAX_LENGTH = 64;
const MAX_ENTRIES = 32;
const MAX_COST = 1_000_000;

const sized = (type: CelType, maxElements: number): DeclaredType => ({ type, fields: undefined, element: undefined, maxElements, minSerializedSize: 0 });
const mapOf = (element: DeclaredType): DeclaredType => ({ ...sized(mapType(STRING, element.type), MAX_ENTRIES), element });

/** The variable `device` (dynamic-resource-allocation/cel/compile.go). */
const DEVICE: DeclaredType = {
  ...sized(structType('kubernetes.DRADevice'), 0),
  fields: new Map([
    ['driver', sized(STRING, DRIVER_MAX_LENGTH)],
    ['allowMultipleAllocations', sized(BOOL, 1)],
    ['attributes', mapOf(mapOf(sized(ANY, VALUE_MAX_LENGTH)))],
    ['capacity', mapOf(mapOf(sized(structType('kubernetes.Quantity'), 0)))],
  ]),
};

const DECLARED = { variables: { device: DEVICE.type }, types: [declaredTypes(DEVICE)], libraries: [BINDINGS_LIBRARY] };
const ENVIRONMENT = KUBERNETES_ENVIRONMENT.extend(DECLARED);

const sizesByPath = declaredSizes(DEVICE);
const KEYS = { min: 0, max: DOMAIN_MAX_LENGTH };

export interface DeviceExpressionProblem {
  type: 'invalid' | 'internal' | 'tooCostly';
  detail: string;
}

/** Answers with what is wrong with a selector of devices, or nothing. `hasFormerCel`: see KindSettings. */
export function* compileDeviceExpression(expression: string, hasFormerCel = false): SlicedWork<DeviceExpressionProblem | undefined> {
  try {
    const program = yield* compileInSteps(expression, hasFormerCel ? formerKubernetesEnvironment().extend(DECLARED) : ENVIRONMENT);
    const { kind } = program.resultType;
    // An attribute may be a bool.
    if (kind !== 'bool' && kind !== 'any')
      return { type: 'invalid', detail: `must evaluate to bool or the unknown type, not ${printedType(program.resultType)}` };
    const { max } = program.estimateCost((node) => (node.path?.at(-1) === '@keys' ? KEYS : sizesByPath(node)));
    return max > MAX_COST ? { type: 'tooCostly', detail: 'too complex, exceeds cost limit' } : undefined;
  } catch (error) {
    if (error instanceof CelErrors) return { type: 'invalid', detail: `compilation failed: ${error.message}` };
    if (error instanceof PlanError) return { type: 'internal', detail: `program instantiation failed: ${error.message}` };
    throw error;
  }
}
