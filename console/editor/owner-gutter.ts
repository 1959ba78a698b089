import { type Extension, StateEffect, StateField } from '@codemirror/state';
import { GutterMarker, gutter } from '@codemirror/view';

/** Who owns the field that a line begins. */
export interface LineOwner {
  /** Shown where it differs from the line before. */
  name: string;
  /** All of them, with when and how. */
  title: string;
  /** One of four. */
  color: number;
}

class OwnerMarker extends GutterMarker {
  readonly #owner: LineOwner;
  readonly #isFirst: boolean;

  constructor(owner: LineOwner, isFirst: boolean) {
    super();
    this.#owner = owner;
    this.#isFirst = isFirst;
    this.elementClass = `cm-owner-${owner.color}`;
  }

  override eq(other: OwnerMarker): boolean {
    return other.#owner.title === this.#owner.title && other.#isFirst === this.#isFirst;
  }

  override toDOM(): Node {
    const element = document.createElement('span');
    element.title = this.#owner.title;
    element.textContent = this.#isFirst ? this.#owner.name : '\u00a0';
    return element;
  }
}

export const setLineOwners = StateEffect.define<readonly (LineOwner | undefined)[]>();

const lineOwners = StateField.define<readonly (LineOwner | undefined)[]>({
  create: () => [],
  // Lines that were edited have no owner until the object is read anew.
  update: (owners, transaction) =>
    transaction.effects.reduce<readonly (LineOwner | undefined)[]>((current, effect) => (effect.is(setLineOwners) ? effect.value : current), owners),
});

export const ownerGutter = (): Extension => [
  lineOwners,
  gutter({
    class: 'cm-owners',
    lineMarker(view, block) {
      const owners = view.state.field(lineOwners);
      const line = view.state.doc.lineAt(block.from).number - 1;
      const owner = owners[line];
      return owner === undefined ? null : new OwnerMarker(owner, owners[line - 1]?.name !== owner.name);
    },
    lineMarkerChange: (update) => update.transactions.some(({ effects }) => effects.some((effect) => effect.is(setLineOwners))),
  }),
];
