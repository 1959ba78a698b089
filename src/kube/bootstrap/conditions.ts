/** One entry of a status's conditions. */
export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  lastTransitionTime: string;
  reason: string;
  message: string;
}

export const findCondition = (conditions: readonly Condition[] | undefined, type: string): Condition | undefined =>
  conditions?.find((condition) => condition.type === type);

/** The list with this condition in place of the one of its type. */
export const setCondition = (conditions: readonly Condition[] | undefined, condition: Condition): Condition[] => [
  ...(conditions ?? []).filter((other) => other.type !== condition.type),
  condition,
];
