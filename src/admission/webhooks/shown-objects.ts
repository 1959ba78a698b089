import type { AdmissionAttributes } from '../../registry/admission.ts';
import type { ApiObject } from '../../api/api-object.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import { replaceContent } from '../replace-content.ts';
import type { View } from './view.ts';

/** A write's objects as one view has them; undefined where there are none. */
export interface ShownObjects {
  object: JsonObject | undefined;
  oldObject: JsonObject | undefined;
}

type Written = Pick<AdmissionAttributes, 'object' | 'oldObject'>;

/** The old object first, as upstream converts them (apiserver/pkg/admission/conversion.go NewVersionedAttributes). */
export async function shownIn(view: View, { object, oldObject }: Written): Promise<ShownObjects> {
  const old = oldObject && (await view.show(oldObject));
  return { object: object && (await view.show(object)), oldObject: old };
}

const shownToChange = async (view: View, { object, oldObject }: Written): Promise<ShownObjects> =>
  view.showToChange
    ? { object: object && view.showToChange(object), oldObject: oldObject && view.showToChange(oldObject) }
    : shownIn(view, { object, oldObject });

/**
 * A write that webhooks change one after the other, each in the version that it asks for. Between two of one version nothing is converted; the write's own
 * object changes when another version is asked for, and at the end (conversion.go ConvertVersionedAttributes).
 */
export class ChangedWrite {
  readonly #attributes: AdmissionAttributes;
  #current: ({ view: View; isChanged: boolean } & ShownObjects) | undefined;

  constructor(attributes: AdmissionAttributes) {
    this.#attributes = attributes;
  }

  /** As selectors see it. */
  get object(): ApiObject | undefined {
    return (this.#current?.object as ApiObject | undefined) ?? this.#attributes.object;
  }

  async in(view: View): Promise<ShownObjects> {
    if (this.#current?.view !== view) {
      await this.finish();
      this.#current = { view, isChanged: false, ...(await shownToChange(view, this.#attributes)) };
    }
    return this.#current;
  }

  /** In the view that was asked for last. */
  change(object: JsonObject): void {
    Object.assign(this.#current!, { object, isChanged: true });
  }

  async finish(): Promise<void> {
    if (!this.#current?.isChanged) return;
    const { view, object } = this.#current;
    const current = this.#attributes.object!;
    replaceContent(current, await view.read(object!, current));
    this.#current.isChanged = false;
  }
}
