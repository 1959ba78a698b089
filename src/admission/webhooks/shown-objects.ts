import type { AdmissionAttributes } from '../../registry/admission.ts';
import type { ApiObject } from '../../api/api-object.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import { type SentObject, serverMade } from '../../registry/write.ts';
import { replaceContent } from '../replace-content.ts';
import type { AdmissionView } from './view.ts';

/** A write's objects as one view has them; undefined where there are none. */
export interface ShownObjects {
  object: JsonObject | undefined;
  oldObject: JsonObject | undefined;
}

type Written = Pick<AdmissionAttributes, 'object' | 'sentEmpty' | 'through' | 'oldObject'>;

/** The old object first, as upstream converts them (apiserver/pkg/admission/conversion.go NewVersionedAttributes). */
export async function shownIn(view: AdmissionView, written: Written): Promise<ShownObjects> {
  const { object, oldObject } = sentObjects(written);
  const old = oldObject && (await view.show(oldObject));
  return { object: object && (await view.show(object)), oldObject: old };
}

async function shownToChange(view: AdmissionView, written: Written): Promise<ShownObjects> {
  if (!view.showToChange) return shownIn(view, written);
  const { object, oldObject } = sentObjects(written);
  return { object: object && view.showToChange(object), oldObject: oldObject && view.showToChange(oldObject) };
}

export const sentObjects = ({ object, sentEmpty, through, oldObject }: Written): { object: SentObject | undefined; oldObject: SentObject | undefined } => ({
  object: object && { object, sentEmpty, through },
  oldObject: oldObject && serverMade(oldObject),
});

/**
 * A write that webhooks change one after the other, each in the version that it asks for. Between two of one version nothing is converted; the write's own
 * object changes when another version is asked for, and at the end (conversion.go ConvertVersionedAttributes).
 */
export class ChangedWrite {
  readonly #attributes: AdmissionAttributes;
  #current: ({ view: AdmissionView; isChanged: boolean } & ShownObjects) | undefined;

  constructor(attributes: AdmissionAttributes) {
    this.#attributes = attributes;
  }

  /** As selectors see it. */
  get object(): ApiObject | undefined {
    return (this.#current?.object as ApiObject | undefined) ?? this.#attributes.object;
  }

  async in(view: AdmissionView): Promise<ShownObjects> {
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
    replaceContent(this.#attributes, await view.read(object!, this.#attributes.object!));
    this.#current.isChanged = false;
  }
}
