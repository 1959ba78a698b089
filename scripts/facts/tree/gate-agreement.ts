import type { Gates } from './feature-gates.ts';

/** Where what a program tells of gates is not what its tree registers. Help lists only gates that may be moved, and a server tells no locks. */
export function disagreements(ofTree: Gates, told: Gates, by: string): string[] {
  return Object.entries(told).flatMap(([name, { stage, default: isOn }]) => {
    const gate = ofTree[name];
    if (!gate) return [`${name}: ${by} knows it, the tree does not register it`];
    return gate.stage === stage && gate.default === isOn ? [] : [`${name}: ${by} says ${stage} ${isOn}, the tree ${gate.stage} ${gate.default}`];
  });
}
